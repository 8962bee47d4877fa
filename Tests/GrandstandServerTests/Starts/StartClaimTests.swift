internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The recipients of a start. Each gets one push.
struct StartClaimTests {
    @Test func `a follower of two of the event's topics gets one start, also in small shards`() async throws {
        try await withStarts { world in
            try await world.open(topics: ["a", "b", "c"])
            var followers: [Int] = []
            for number in 0..<17 {
                followers.append(try await world.follow(number.isMultiple(of: 3) ? ["a", "b"] : ["c", "a"]))
            }
            try await world.follow(["team:other"])
            #expect(try await world.sendAll(shardSize: 5) == followers)
            #expect(try await world.sendAll().isEmpty)
            let report = try await world.report()
            #expect((report.state, report.counts.followers, report.counts.accepted) == (.done, 17, 17))
        }
    }

    @Test func `a shard has the channel, the declared bytes and a timestamp below every update's`() async throws {
        try await withStarts { world in
            let start = StartWorld.start(
                at: world.now, until: world.now + 60,
                alertsByLocale: ["de": #"{"title": "Anpfiff"}"#])
            try await world.open(start: start)
            try await world.follow(locale: "de-AT")
            let shard = try #require(try await world.claim().first)
            #expect(try await shard.pushes[0].channelID == world.stores.channel().channelID)
            #expect(shard.address.bundleID.rawValue == "com.example.Goal")
            #expect(shard.until == world.now + 60)
            #expect(shard.pushes[0].expiration == Int(shard.until.timeIntervalSince1970.rounded(.down)))
            #expect(shard.pushes[0].payload.staleDate != nil)
            #expect(shard.pushes[0].timestamp == Int(world.now.timeIntervalSince1970.rounded(.down)) - 2)
            #expect(shard.pushes[0].payload.start?.attributes == start.attributes.array)
            let member = try #require(shard.members.first)
            #expect(member.form.hasInput)
            #expect(shard.requests()(member).collapseID == "start-\(shard.run)")
            #expect(shard.alerts.value(for: try #require(member.form.locale)) == Array(#"{"title": "Anpfiff"}"#.utf8))
            try await world.stores.accept(.update())
            #expect(try await world.stores.claim().first?.timestamp ?? 0 > shard.pushes[0].timestamp)
        }
    }

    @Test func `no start is sent before its time, or while its app is avoided`() async throws {
        try await withStarts { world in
            let at = world.now + 30
            try await world.open(start: StartWorld.start(at: at))
            try await world.follow()
            #expect(try await world.claim().isEmpty)
            #expect(try await world.starts.nextDue(in: .production) == at)
            #expect(try await world.report().state == .scheduled)
            #expect(try await world.counts().pending == 1)
            world.stores.clock.advance(by: 30)
            #expect(try await world.claim(avoiding: [.sample()]).isEmpty)
            #expect(try await world.claim(avoiding: [.sample("com.example.Other")]).count == 1)
        }
    }

    @Test func `a declared content is used until one is accepted, and then followers get the newest`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            let first = try #require(try await world.claim().first)
            #expect(first.pushes[0].payload.contentState == StartWorld.start().contentState?.array)
            try await world.settle(first)
            world.stores.clock.advance(by: 60)
            for (number, score) in [#"{"score":"1-0"}"#, #"{"score":"2-0"}"#].enumerated() {
                // The second update is accepted, but not sent yet.
                let update = try await world.stores.accept(.update(score))
                let sent = number == 0 ? try await world.stores.sendOne().timestamp : nil
                try await world.enlist(try await world.follow())
                let shard = try #require(try await world.claim().first)
                #expect(shard.pushes[0].payload.contentState == Array(score.utf8))
                // The timestamp of a start is not lower than the timestamp of the content that the start shows. It is
                // lower than the timestamp of every later update.
                if let sent { #expect(shard.pushes[0].timestamp == sent) }
                try await world.settle(shard)
                #expect(try await world.stores.withdraw(update) == false)
                if number == 1 {
                    #expect(try await world.stores.claim().first?.timestamp ?? 0 > shard.pushes[0].timestamp)
                }
            }
        }
    }

    @Test
    func `an update without a content, a withdrawn one and another audience's do not replace the declared content`()
        async throws
    {
        try await withStarts { world in
            let audiences = try ["de", "en"].map {
                Audience(id: try .sample(variant: $0), storagePolicy: .mostRecentMessageStored)
            }
            try await world.declare(start: StartWorld.start(at: world.now), audiences: audiences)
            try await world.stores.provision()
            let withdrawn = try await world.stores.accept(.update(#"{"n":1}"#))
            #expect(try await world.stores.withdraw(withdrawn) == true)
            try await world.stores.accept(.update(#"{"n":2}"#, sendAt: world.now + 60))
            // The start uses the audience that was declared first, so an update for the second audience does not count.
            try await world.stores.accept(.update(#"{"n":3}"#, audiences: [audiences[1].id]))
            try await world.follow()
            let declared = try #require(try await world.claim().first)
            #expect(declared.pushes[0].payload.contentState == StartWorld.start().contentState?.array)
            try await world.settle(declared)
            try await world.stores.accept(.update(#"{"n":4}"#, byVariant: ["de": (#"{"n":"vier"}"#, nil)]))
            try await world.enlist(try await world.follow())
            #expect(try await world.claim().first?.pushes[0].payload.contentState == Array(#"{"n":"vier"}"#.utf8))
        }
    }

    @Test func `later followers get the start until its time is over`() async throws {
        try await withStarts { world in
            try await world.open(start: StartWorld.start(at: world.now, until: world.now + 120))
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.report().state == .done)
            let late = try await world.followers(2)
            for follower in late { try await world.enlist(follower) }
            try await world.stores.pool.query("delete from follows where installation = \(late[1])")
            #expect(try await world.sendAll() == [late[0]])
            world.stores.clock.advance(by: 120)
            try await world.enlist(try await world.follow())
            #expect(try await world.sendAll().isEmpty)
        }
    }

    @Test func `an event that lasts longer than planned starts cards until it ends, also after a long pause`()
        async throws
    {
        try await withStarts { world in
            var specification = try EventSpecification.sample(startsAt: world.now, endsAt: world.now + 60)
            specification.topics = ["team:rapid"]
            specification.start = StartWorld.start()
            try await world.stores.put(specification)
            try await world.stores.provision()
            func late() async throws -> Int {
                let follower = try await world.follow()
                try await world.enlist(follower)
                return follower
            }
            try await world.sendAll()
            world.stores.clock.advance(by: 3_600)
            let first = try await late()
            #expect(try await world.sendAll() == [first])
            // Nobody sends an end, and nobody plays.
            world.stores.clock.advance(by: 4 * 3_600)
            let second = try await late()
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.report().state == .done)
            #expect(try await world.counts().ineligible.tooLate == 1)
            // The match goes on.
            try await world.stores.accept(.update())
            world.stores.clock.advance(by: 60)
            #expect(try await world.sendAll() == [second])
            try await world.stores.accept(.end())
            _ = try await late()
            #expect(try await world.sendAll().isEmpty)
        }
    }

    @Test func `the system version, the permission and the token decide which form of start an installation gets`()
        async throws
    {
        try await withStarts { world in
            try await world.open()
            let kinds: [(system: String, enabled: Bool, hasToken: Bool)] = [
                ("17.1", true, true), ("17.1", false, false), ("17.2", true, true), ("17.7", false, false),
                ("17.7", true, false), ("18.0", true, true), ("26.1", false, true), ("26.1", true, false),
            ]
            for kind in kinds {
                try await world.follow(system: kind.system, enabled: kind.enabled, hasToken: kind.hasToken)
            }
            // A token of another type of attributes does not count.
            try await world.follow(attributesType: "FlightAttributes")
            let shard = try #require(try await world.claim().first)
            #expect(shard.members.map(\.form.hasInput) == [false, true])
            let counts = try await world.counts()
            #expect(counts.pending == 2)
            #expect(counts.ineligible == .init(system: 2, disabled: 2, noToken: 3, tooLate: 0))
            #expect(counts.followers == kinds.count + 1)
        }
    }

    @Test func `an audience with delivery by tokens needs no channel, and its starts ask for tokens`() async throws {
        try await withStarts { world in
            try await world.declare()
            try await world.stores.pool.query("update audiences set delivery = 'tokens'")
            try await world.follow()
            let shard = try #require(try await world.claim().first)
            #expect(shard.pushes[0].channelID == nil)
            #expect(shard.members.map { shard.pushes[$0.form.push].payload.start?.input } == [.token])
        }
    }
}

/// Starts of an app with several audiences in an event: each follower is started on one of them.
struct VariantStartTests {
    private func audiences(_ names: String?...) throws -> [Audience] { try names.map { try .sample(variant: $0) } }

    private func channel(of variant: String?, _ world: StartWorld) async throws -> String? {
        try await world.stores.lookup(variant: variant)?.channelId
    }

    @Test
    func `each follower is started on its own variant, or that of its locale, or the one without a variant`()
        async throws
    {
        try await withStarts { world in
            try await world.declare(
                start: StartWorld.start(at: world.now, contentState: nil), audiences: audiences("de", nil, "home"))
            try await world.stores.provision()
            let followers: [(Int, String?)] = [
                (try await world.follow(locale: "de-AT"), "de"),
                (try await world.follow(locale: "de", variant: "home"), "home"),
                (try await world.follow(locale: "fr-FR"), nil),
                (try await world.follow(locale: "de-CH", variant: "away"), "de"),
                (try await world.follow(), nil),
            ]
            try await world.stores.accept(
                .update(#"{"n":1}"#, byVariant: ["de": (#"{"n":"eins"}"#, nil), "home": (#"{"n":"wir"}"#, nil)]))
            let contents = ["de": #"{"n":"eins"}"#, "home": #"{"n":"wir"}"#]
            let shard = try #require(try await world.claim().first)
            #expect(shard.pushes.count == 3)
            let bodies = shard.requests()
            for (installation, variant) in followers {
                let member = try #require(shard.members.first { $0.installation == installation })
                let push = shard.pushes[member.form.push]
                #expect(try await push.channelID == channel(of: variant, world))
                let content = variant.flatMap { contents[$0] } ?? #"{"n":1}"#
                #expect(push.payload.contentState == Array(content.utf8))
                #expect(String(decoding: bodies(member).body, as: UTF8.self).contains(content))
            }
            try await world.settle(shard)
            let report = try await world.report()
            #expect(report.state == .done && report.counts.accepted == 5)
        }
    }

    @Test func `followers of an audience without a channel wait, others do not, and each gets one start`() async throws
    {
        try await withStarts { world in
            try await world.declare(audiences: audiences("de", "fr"))
            try await world.stores.align()
            let tasks = try await world.stores.claimChannels()
            func make(_ variant: String) async throws {
                for task in tasks where task.channel.variant?.rawValue == variant {
                    try await world.stores.record(.created(channelID: "apple-\(variant)"), of: task)
                }
            }
            try await make("de")
            let (german, french) = (try await world.follow(locale: "de"), try await world.follow(locale: "fr"))
            #expect(try await world.sendAll() == [german])
            var report = try await world.report()
            #expect(report.state == .waiting && report.waitingFor == .channel && report.finishedAt == nil)
            #expect(report.counts.accepted == 1 && report.counts.pending == 1)
            // Of the new followers one waits for the channel of `fr`, and the other gets its start at once.
            let late = [try await world.follow(locale: "fr"), try await world.follow(locale: "de")]
            for follower in late { try await world.enlist(follower) }
            #expect(try await world.sendAll() == [late[1]])

            try await make("fr")
            world.stores.clock.advance(by: 2)
            #expect(try await world.sendAll() == [french, late[0]])
            world.stores.clock.advance(by: 61)
            #expect(try await world.sendAll().isEmpty)
            report = try await world.report()
            #expect(report.state == .done && report.waitingFor == nil && report.counts.accepted == 4)
        }
    }

    @Test func `nobody is started on an audience that is over`() async throws {
        try await withStarts { world in
            try await world.declare(audiences: audiences("de", "fr"))
            try await world.stores.provision()
            var end = BroadcastRequest.end()
            end.audiences = [AudienceSelector(try .sample(variant: "de"))]
            try await world.stores.accept(end)
            try await world.follow(locale: "de")
            let shard = try #require(try await world.claim().first)
            #expect(try await shard.pushes.map(\.channelID) == [channel(of: "fr", world)])
            #expect(shard.members.count == 1)
        }
    }

    @Test(arguments: [nil, "fr"]) func `an installation is started once, on one of the selected audiences`(
        _ chosen: String?
    ) async throws {
        try await withStarts { world in
            let selected = try chosen.map { [try Audience.ID.sample(variant: $0)] }
            try await world.declare(
                start: StartWorld.start(at: world.now, audiences: selected), audiences: audiences("de", "fr"))
            try await world.stores.provision()
            try await world.follow(locale: "de")
            let shards = try await world.claim()
            #expect(shards.map(\.members.count) == [1])
            let shard = try #require(shards.first)
            #expect(try await shard.pushes[shard.members[0].form.push].channelID == channel(of: chosen ?? "de", world))
            let reports = try await world.report().audiences
            #expect(reports.map(\.variant) == [chosen])
            #expect(reports.first?.counts.followers == 1)
        }
    }

    @Test func `a waiting start names what it waits for`() async throws {
        try await withStarts { world in
            try await world.declare(start: StartWorld.start(at: world.now, contentState: nil))
            try await world.follow()
            func waits(_ reason: Contract.StartWait?) async throws {
                let report = try await world.report()
                #expect(report.waitingFor == reason && report.state == (reason == nil ? .running : .waiting))
            }
            try await waits(.channel)
            try await world.stores.align()
            try await world.stores.pool.query(
                """
                update channels set state = 'failed', reason = 'quota-exhausted', next_attempt_at = \(world.now)
                """)
            try await waits(.room)
            try await world.stores.pool.query("update channels set state = 'creating', reason = null")
            try await world.stores.provision()
            try await waits(.content)
            try await world.stores.accept(.update(#"{"n":"\#(String(repeating: "x", count: 4_080))"}"#))
            try await waits(.contentTooLong)
            try await world.stores.accept(.update(#"{"n":1}"#))
            try await waits(nil)
            #expect(try await world.sendAll().count == 1)
        }
    }
}
