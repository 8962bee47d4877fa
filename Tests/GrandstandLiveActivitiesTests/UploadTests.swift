internal import Foundation
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import PhoneFakes
internal import Testing

/// The phone's side of an installation's life, with a server and a network in memory.
@Suite(.timeLimit(.minutes(20)))
struct UploadTests {
    @Test func `tokens missing in the stream are read at launch and in the foreground`()
        async throws
    {
        try await Phone.with(Phone(host: FakeHost { $0.facts.tokens = ["MatchAttributes": "01"] })) { phone, app in
            await app.uploaded()
            #expect(await phone.known(app)?.facts.tokens == ["MatchAttributes": "01"])
            phone.host.change { $0.facts.tokens = ["MatchAttributes": "02"] }
            await app.refresh()
            await app.flush()
            #expect(await phone.known(app)?.facts.tokens == ["MatchAttributes": "02"])
        }
    }

    @Test func `after a reinstallation it is the same installation, with the new app's state`() async throws {
        let phone = Phone()
        let first = await phone.launch()
        for number in 0..<5 { try await first.follow(["team:\(number)"]) }
        await first.uploaded()
        let name = await first.status.installation
        await first.stop()
        // The app's files are gone, the keychain is not.
        try FileManager.default.removeItem(at: phone.record)
        try await Phone.with(phone) { (phone, app) async throws in
            try await app.follow(["team:new"])
            _ = await app.wait { $0.phase == .upToDate && $0.topics == ["team:new"] }
            #expect(await app.status.installation == name)
            #expect(await phone.known(app)?.facts.topics == ["team:new"])
        }
    }

    @Test(arguments: [[:], ["MatchAttributes": "02"]])
    func `a backup on another phone becomes another installation with the same topics`(
        newToken: [String: String]
    ) async throws {
        let phone = Phone(host: FakeHost { $0.facts.tokens = ["MatchAttributes": "01"] })
        let old = await phone.launch()
        try await old.follow(["team:rapid"])
        _ = await old.wait { $0.phase == .upToDate && $0.topics == ["team:rapid"] }
        let name = await old.status.installation
        await old.stop()
        // A backup contains the record, but not the keychain items, which stay on their device.
        try FileManager.default.removeItem(at: phone.keychain)
        phone.host.change {
            $0.facts.tokens = newToken
            $0.activities = [Phone.card("new")]
        }
        try await Phone.with(phone) { (phone, app) async throws in
            await app.uploaded()
            #expect(await app.status.installation != name)
            let known = try #require(await phone.known(app))
            #expect(known.facts.topics == ["team:rapid"])
            #expect(known.facts.tokens == newToken)
            #expect(known.activities.keys.sorted() == ["new"])
        }
    }

    @Test func `an installation that lost its secret gets a new ID`() async throws {
        let phone = Phone()
        let kept = try phone.store().identity().installationId
        _ = try await phone.server.perform(
            .register(.init(sequence: 3, systemVersion: "18.4")),
            as: .init(app: .init("a", .production), installationId: kept, secret: "another"))
        try await Phone.with(phone) { (phone, app) async throws in
            await app.uploaded()
            let known = try #require(await phone.known(app))
            #expect(await app.status.installation != UUID(uuidString: kept))
            #expect(known.facts.systemVersion == "18.4.1")
        }
    }

    @Test func `before the first unlock no identity is created, and afterwards it is the same installation`()
        async throws
    {
        let phone = Phone()
        defer { phone.discard() }
        let kept = try phone.store().identity().installationId
        let app = await phone.launch(refusals: 6)
        await app.uploaded()
        #expect(await app.status.installation == UUID(uuidString: kept))
        #expect(phone.server.installations.count == 1)
        await app.stop()
    }

    @Test func `permissions are reported as they are, and a start token is kept if the stream is silent`() async throws
    {
        try await Phone.with(Phone(host: FakeHost { $0.facts.tokens = ["MatchAttributes": "01"] })) { phone, app in
            await app.uploaded()
            phone.host.change {
                $0.facts.tokens = [:]
                $0.facts.liveActivitiesEnabled = false
            }
            phone.host.tell(.changed)
            _ = await app.wait { !$0.areActivitiesEnabled && $0.phase == .upToDate }
            let known = try #require(await phone.known(app))
            #expect(known.facts.liveActivitiesEnabled == false)
            #expect(known.facts.tokens == ["MatchAttributes": "01"])
        }
    }

    @Test func `invalid topics and variants are refused, and then nothing is followed`() async throws {
        try await Phone.with { phone, app in
            await #expect(throws: LiveActivitiesError.notATopic("team rapid")) {
                try await app.follow(["a", "team rapid"])
            }
            await #expect(throws: LiveActivitiesError.tooManyTopics) {
                try await app.follow((0...InstallationFacts.maxTopics).map { "t\($0)" })
            }
            await #expect(throws: LiveActivitiesError.notAVariant("d e")) {
                try await app.follow(["team:rapid"], variant: "d e")
            }
            #expect(await app.status.topics.isEmpty)
            try await app.follow(["team:rapid"], variant: "home")
            try await app.setVariant(nil)
            await app.uploaded()
            #expect(await phone.known(app)?.facts.variant == nil)
        }
    }

    @Test func `a forgotten installation is gone on the phone and the server, and a return is a new one`() async throws
    {
        let phone = Phone()
        phone.network.setFate { _, request in request == .forget ? .answerLost : .arrives }
        let app = await phone.launch()
        try await app.follow(["team:rapid"])
        _ = await app.wait { $0.phase == .upToDate && $0.topics == ["team:rapid"] }
        let name = await app.status.installation
        try await app.forget()
        await app.flush()
        phone.network.setFate { _, _ in .arrives }
        _ = await app.wait { $0.phase == .forgotten }
        #expect(phone.server.installations.isEmpty)
        await app.stop()
        try await Phone.with(phone) { (phone, again) async throws in
            await again.flush()
            #expect(phone.server.installations.isEmpty)
            try await again.follow(["team:sturm"])
            _ = await again.wait { $0.phase == .upToDate }
            #expect(await again.status.installation != name)
            #expect(await phone.known(again)?.facts.topics == ["team:sturm"])
        }
    }
}

/// Networks that lose, duplicate, delay and reorder requests, and apps that are killed at any time. Each case has a
/// number, so that it can be repeated.
@Suite(.timeLimit(.minutes(20)))
struct StormTests {
    @Test(arguments: 0..<120)
    func `after all faults the server has the phone's last state`(seed: UInt64) async throws {
        let clock = TestTime()
        let phone = Phone(time: clock.time)
        defer { phone.discard() }
        for key in ["derby", "final"] { phone.server.setLookup(key, .found(channelID: "Y2hhbm5lbA==")) }
        let (wished, status) = try await phone.network.storm(phone, seed: seed, steps: 25) { random in
            guard random.next(below: 4) == 0 else { return }
            // The server forgets installations that it has not heard of for 180 days.
            clock.set(clock.date + 181 * 86_400)
            phone.server.prune()
            phone.network.drop()
        } isKnown: {
            !phone.server.installations.isEmpty
        }

        let name = try #require(status.installation).uuidString.lowercased()
        let known = try #require(phone.server.installations[name], "seed \(seed)")
        let condition = await phone.host.condition()
        #expect(known.facts.topics == status.topics, "seed \(seed)")
        #expect(known.facts.tokens == condition.facts.tokens, "seed \(seed)")
        #expect(known.facts.liveActivitiesEnabled == condition.facts.liveActivitiesEnabled, "seed \(seed)")
        #expect(known.facts.frequentPushesEnabled == condition.facts.frequentPushesEnabled, "seed \(seed)")
        // No start is lost or made twice. For each activity, the server has the same event and state as the phone.
        #expect(Set(condition.activities.map(\.eventKey)) == wished, "seed \(seed)")
        #expect(condition.activities.count == wished.count, "seed \(seed)")
        for card in condition.activities {
            #expect(known.activities[card.id]?.state == card.state, "seed \(seed)")
            #expect(known.activities[card.id]?.eventKey == card.eventKey, "seed \(seed)")
        }
        #expect(phone.server.installations.count == 1, "seed \(seed)")
        #expect(phone.network.disturbed > 0 || phone.network.requests.count < 10, "seed \(seed)")
    }
}
