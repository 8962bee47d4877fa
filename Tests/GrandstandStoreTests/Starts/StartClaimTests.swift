internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

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
            #expect(report.state == .done)
            #expect(report.counts.followers == 17)
            #expect(report.counts.accepted == 17)
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
            #expect(shard.pushes[0].timestamp == Int(world.now.timeIntervalSince1970.rounded(.down)) - 2)
            #expect(shard.pushes[0].payload.attributes == start.attributes)
            let member = try #require(shard.members.first)
            #expect(member.form == .channel)
            #expect(shard.alerts.value(for: try #require(member.locale)) == Array(#"{"title": "Anpfiff"}"#.utf8))
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
            #expect(first.pushes[0].payload.contentState == StartWorld.start().contentState)
            try await world.settle(first)
            world.stores.clock.advance(by: 60)
            for (number, score) in [#"{"score":"1-0"}"#, #"{"score":"2-0"}"#].enumerated() {
                // The second update is accepted, but not sent yet.
                let update = try await world.stores.accept(.update(score))
                let sent = number == 0 ? try await world.stores.sendOne().timestamp : nil
                try await world.queue(try await world.follow())
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
            #expect(declared.pushes[0].payload.contentState == StartWorld.start().contentState)
            try await world.settle(declared)
            try await world.stores.accept(.update(#"{"n":4}"#, byVariant: ["de": (#"{"n":"vier"}"#, nil)]))
            try await world.queue(try await world.follow())
            #expect(try await world.claim().first?.pushes[0].payload.contentState == Array(#"{"n":"vier"}"#.utf8))
        }
    }

    @Test func `later followers get the start until its time is over`() async throws {
        try await withStarts { world in
            try await world.open(start: StartWorld.start(at: world.now, until: world.now + 120))
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.report().state == .done)
            let late = try await world.follow()
            try await world.queue(late)
            #expect(try await world.sendAll() == [late])
            world.stores.clock.advance(by: 120)
            let later = try await world.follow()
            try await world.queue(later)
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.stores.rows("fan_out_queue") == 0)
        }
    }

    @Test func `an installation that stopped following before the push gets none`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.sendAll()
            let late = try await world.follow()
            try await world.queue(late)
            try await world.stores.pool.query("delete from follows where installation = \(late)")
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
            let forms = try kinds.map {
                StartForm(
                    systemVersion: try #require(SystemVersion($0.system)), liveActivitiesEnabled: $0.enabled,
                    hasToken: $0.hasToken, delivery: .channel)
            }
            // A token of another type of attributes does not count.
            try await world.follow(attributesType: "FlightAttributes")
            let shard = try #require(try await world.claim().first)
            #expect(shard.members.map(\.form) == [.plain, .channel])
            let counts = try await world.counts()
            #expect(counts.pending == 2)
            for reason in StartForm.Ineligible.allCases {
                let expected = forms.count { $0 == .ineligible(reason) } + (reason == .noToken ? 1 : 0)
                #expect(counts.ineligible[reason] == expected, "\(reason)")
            }
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
            #expect(shard.members.map(\.form) == [.token])
        }
    }
}
