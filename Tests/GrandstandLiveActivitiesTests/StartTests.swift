internal import Foundation
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import PhoneFakes
internal import Testing

/// From the request to the activity, with fakes of ActivityKit (`FakeHost`) and of the server.
@Suite(.timeLimit(.minutes(20)))
struct StartTests {
    private static let found = LookupOutcome.found(channelID: "dGVzdA==", contentState: Data(#"{"home": 2}"#.utf8))

    @Test func `an activity is started on its channel with the newest content, and reported`() async throws {
        try await Phone.with { phone, app in
            phone.server.setLookup("derby", Self.found)
            await app.uploaded()
            // The activity starts while the system is read, and is not in this reading.
            phone.host.setOnReading { _ = try? await app.show(Phone.match()) }
            await app.refresh()
            #expect(phone.host.channels == ["dGVzdA=="])
            #expect(phone.host.content(of: "card-1") == Data(#"{"home": 2}"#.utf8))
            await app.uploaded()
            let entry = try #require(await phone.known(app)?.activities["card-1"])
            #expect(entry.channelID == "dGVzdA==" && entry.state == .active && entry.eventKey == "derby")
        }
    }

    @Test func `below iOS 18, and for an event without a channel, an activity gets a token, which is reported`()
        async throws
    {
        let old = Phone(host: FakeHost { $0.supportsChannels = false })
        old.server.setLookup("derby", Self.found)
        old.server.setLookup("tokens", .found(channelID: nil))
        try await Phone.with(old) { (old, app) async throws in
            #expect(try await app.show(Phone.match()) == .shown("card-1"))
            old.host.change { $0.supportsChannels = true }
            #expect(try await app.show(Phone.match("tokens")) == .shown("card-2"))
            #expect(old.host.channels == [nil, nil])
            old.host.change { $0.activities[0].updateToken = "0a0b" }
            old.host.tell(.changed)
            _ = await app.wait { $0.activities["card-1"]?.updateToken == "0a0b" && $0.phase == .upToDate }
            #expect(await old.known(app)?.activities["card-1"]?.updateToken == "0a0b")
        }
    }

    @Test func `without a network, a channel or the foreground a start waits, and then there is one activity`()
        async throws
    {
        let phone = Phone()
        phone.server.setLookup("derby", .failure(NoAnswer()))
        let app = await phone.launch()
        #expect(try await app.show(Phone.match()) == .waiting)
        #expect(await app.status.waitingFor == ["derby"])
        await app.stop()
        // The app was killed and is launched again. The request is still there.
        phone.server.setLookup("derby", .failure(ServerProblem.device(404, "channel-pending", retryAfter: 5)))
        try await Phone.with(phone) { (phone, again) async throws in
            await again.flush()
            #expect(await again.status.waitingFor == ["derby"])
            phone.host.setInFront(false)
            phone.server.setLookup("derby", Self.found)
            await again.flush()
            #expect(phone.host.cards.isEmpty)
            phone.host.setInFront(true)
            _ = await again.wait { $0.waitingFor.isEmpty && $0.phase == .upToDate }
            #expect(phone.host.cards.count == 1)
            #expect(await phone.known(again)?.activities["card-1"]?.channelID == "dGVzdA==")
        }
    }

    @Test func `an app killed between start and report finds its activity, reports it and starts no second one`()
        async throws
    {
        let phone = Phone(time: .standing)
        phone.server.setLookup("derby", .failure(NoAnswer()))
        let killed = await phone.launch()
        #expect(try await killed.show(Phone.match()) == .waiting)
        await killed.stop()
        // The killed app had shown the activity, but had not recorded it.
        _ = try await phone.host.start(Phone.match(), as: Self.found.get())
        phone.server.setLookup("derby", Self.found)
        try await Phone.with(phone) { (phone, app) async throws in
            _ = await app.wait { $0.waitingFor.isEmpty && $0.phase == .upToDate }
            #expect(phone.host.channels.count == 1)
            #expect(await phone.known(app)?.activities.keys.sorted() == ["card-1"])
        }
    }

    @Test func `activities removed while the app was not running are reported as dismissed`() async throws {
        let phone = Phone()
        phone.server.setLookup("derby", Self.found)
        let first = await phone.launch()
        _ = try await first.show(Phone.match())
        await first.uploaded()
        await first.stop()
        phone.host.change { $0.activities = [] }
        try await Phone.with(phone) { (phone, app) async throws in
            _ = await app.wait { $0.phase == .upToDate && $0.activities.isEmpty }
            #expect(await phone.known(app)?.activities["card-1"]?.state == .dismissed)
        }
    }

    @Test func `a start waits a day for an event that is not declared yet`() async throws {
        let time = TestTime()
        try await Phone.with(Phone(time: time.time)) { (phone, app) async throws in
            #expect(try await app.show(Phone.match()) == .waiting)
            phone.server.setLookup("derby", Self.found)
            _ = await app.wait { $0.waitingFor.isEmpty && !$0.activities.isEmpty }
            #expect(phone.host.cards.count == 1)
            #expect(try await app.show(Phone.match("mistyped")) == .waiting)
            time.set(time.date.addingTimeInterval(90_000))
            _ = await app.wait { $0.waitingFor.isEmpty }
            #expect(phone.host.cards.count == 1)
        }
    }

    @Test
    func `without a variant the activity has the one that a push would start, and a variant is looked up by its name`()
        async throws
    {
        /// The lookups of a phone with the language de-AT, and the variant that it reports.
        func shown(
            _ named: String?, _ first: String?, _ variants: [String], wanted: String? = nil
        ) async throws -> (Set<String>, String?) {
            let phone = Phone()
            defer { phone.discard() }
            phone.server.setLookup("derby", .found(channelID: "b25l", variant: first, variants: variants))
            for variant in variants {
                phone.server.setLookup(
                    "derby \(variant)",
                    .found(channelID: "bWFueQ==", variant: variant, variants: variants))
            }
            let app = await phone.launch()
            try await app.follow(["team:rapid"], variant: named)
            await app.uploaded()
            #expect(await phone.known(app)?.facts.variant == named)
            var match = Phone.match()
            match.variant = wanted
            #expect(try await app.show(match) == .shown("card-1"))
            await app.uploaded()
            let variant = await phone.known(app)?.activities["card-1"]?.variant
            await app.stop()
            return (Set(phone.network.lookups), variant)
        }
        #expect(try await shown(nil, nil, []) == (["derby"], nil))
        #expect(try await shown(nil, nil, ["home", "de"]) == (["derby", "derby de"], "de"))
        #expect(try await shown("home", nil, ["home", "de"]) == (["derby", "derby home"], "home"))
        #expect(try await shown("away", "en", ["en", "de"]) == (["derby", "derby de"], "de"))
        #expect(try await shown(nil, nil, ["fr"]) == (["derby"], nil))
        #expect(try await shown(nil, nil, ["fr"], wanted: "fr") == (["derby fr"], "fr"))
        #expect(try await shown(nil, "fr", ["fr", "it"]) == (["derby"], "fr"))
    }

    @Test func `a start for an event that is over fails at once`() async throws {
        try await Phone.with { phone, _ in
            phone.server.setLookup("derby", .failure(ServerProblem.device(410, "event-ended")))
            let app = LiveActivities(host: phone.host, server: phone.server, store: phone.store(), time: phone.time)
            await #expect(throws: LiveActivitiesError.eventEnded("derby")) { try await app.show(Phone.match()) }
            let status = await app.status
            #expect(status.waitingFor.isEmpty && status.phase == .uploading)
        }
    }

    @Test func `with Live Activities off nothing is looked up or started, not even after they are on again`()
        async throws
    {
        try await Phone.with(Phone(host: FakeHost { $0.facts.liveActivitiesEnabled = false })) { phone, app in
            await #expect(throws: LiveActivitiesError.disabled) { try await app.show(Phone.match()) }
            phone.host.change { $0.facts.liveActivitiesEnabled = true }
            await app.refresh()
            await app.flush()
            #expect(phone.network.lookups.isEmpty && phone.host.cards.isEmpty)
        }
    }

    @Test func `if the system cannot schedule activities, an activity waits for its date without a request`()
        async throws
    {
        let time = TestTime()
        try await Phone.with(Phone(host: FakeHost { $0.canSchedule = false }, time: time.time)) {
            (phone, app) async throws in
            phone.server.setLookup("derby", Self.found)
            let kickOff = time.date.addingTimeInterval(86_400)
            #expect(try await app.show(Phone.match(startsAt: kickOff)) == .waiting)
            await app.refresh()
            await app.flush()
            #expect(phone.network.lookups.isEmpty && phone.host.cards.isEmpty)
            time.set(kickOff)
            await app.refresh()
            _ = await app.wait { $0.waitingFor.isEmpty }
            #expect(phone.host.cards.count == 1)
        }
    }

    @Test func `a scheduled activity exists at once and is reported when shown`() async throws {
        try await Phone.with { phone, app in
            phone.server.setLookup("derby", Self.found)
            _ = try await app.show(Phone.match(startsAt: Date(timeIntervalSince1970: 1_900_000_000)))
            await app.uploaded()
            #expect(await phone.known(app)?.activities.isEmpty == true)
            phone.host.change { $0.activities[0].state = .active }
            phone.host.tell(.changed)
            _ = await app.wait { $0.activities["card-1"]?.state == .active && $0.phase == .upToDate }
            #expect(await phone.known(app)?.activities["card-1"]?.channelID == "dGVzdA==")
        }
    }
}
