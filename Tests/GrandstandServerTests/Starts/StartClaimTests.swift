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
            let followers = try await (0..<17).asyncMap {
                try await world.follow($0.isMultiple(of: 3) ? ["a", "b"] : ["c", "a"])
            }
            try await world.follow(["team:other"])
            #expect(try await world.sendAll(size: 5) == followers)
            #expect(try await world.sendAll().isEmpty)
            let report = try await world.report()
            #expect((report.state, report.counts.followers, report.counts.accepted) == (.done, 17, 17))
        }
    }

    @Test func `a shard has the channel, the declared bytes and a timestamp below every update's`() async throws {
        try await withStarts { world in
            let start = StartWorld.start(
                at: world.now, until: world.now + 60, alertsByLocale: ["de": #"{"title": "Anpfiff"}"#])
            try await world.open(start: start)
            try await world.follow(locale: "de-AT")
            let shard = try #require(try await world.claim().first)
            let channel = try #require(try await world.stores.channel().channelID)
            #expect(shard.text.contains(#""input-push-channel":"\#(channel)""#))
            #expect(shard.address.bundleID.rawValue == "com.example.Goal")
            #expect(shard.deadline == world.now + 60)
            #expect(shard.pushes[0].expiration == Int(shard.deadline.timeIntervalSince1970.rounded(.down)))
            #expect(shard.timestamp == Int(world.now.timeIntervalSince1970.rounded(.down)) - 2)
            for part in [#""attributes":\#(start.attributes)"#, #""stale-date":"#, #""alert":{"title": "Anpfiff"}"#] {
                #expect(shard.text.contains(part))
            }
            #expect(shard.request(for: try #require(shard.members.first)).collapseID == "start-\(shard.owner)")
        }
    }

    @Test func `no start is sent before its time, also if it is postponed, or while its app is avoided`() async throws {
        try await withStarts { world in
            let at = world.now + 30
            try await world.open(start: StartWorld.start(at: at))
            try await world.follow()
            #expect(try await world.claim().isEmpty)
            #expect(try await world.nextDue() == at)
            #expect(try await world.report().state == .scheduled)
            #expect(try await world.counts().pending == 1)
            world.stores.clock.advance(by: 30)
            #expect(try await world.claim(avoiding: [.sample()]).isEmpty)
            let shards = try await world.claim(avoiding: [.sample("com.example.Other")])
            #expect(shards.count == 1)
            for shard in shards { try await world.settle(shard) }
            #expect(try await world.report().state == .done)
            try await world.declare(start: StartWorld.start(at: world.now + 600))
            try await world.sendAll()
            #expect(try await world.report().state == .scheduled)
            world.stores.clock.advance(by: 600)
            #expect(try await world.report().state == .done)
        }
    }

    @Test func `a declared content is used until one is accepted, and then followers get the newest`() async throws {
        try await withStarts(followers: 1) { world, _ in
            #expect(try await world.push().text.contains(#""content-state":{"score":"0-0"}"#))
            world.stores.clock.advance(by: 60)
            for (number, score) in [#"{"score":"1-0"}"#, #"{"score":"2-0"}"#].enumerated() {
                // The second update is accepted, but not sent yet.
                let update = try await world.stores.accept(.update(score))
                let sent = number == 0 ? try await world.stores.sendOne().timestamp : nil
                try await world.follow(late: true)
                let shard = try await world.push()
                #expect(shard.text.contains(#""content-state":\#(score)"#))
                // The timestamp of a start is not lower than the timestamp of the content that the start shows. It is
                // lower than the timestamp of every later update.
                if let sent { #expect(shard.timestamp == sent) }
                #expect(try await world.stores.withdraw(update) == false)
                if number == 1 {
                    #expect(try await world.stores.claim().first?.timestamp ?? 0 > shard.timestamp)
                }
            }
        }
    }

    @Test func `a withdrawn update, a later one and another audience's leave the declared content`() async throws {
        try await withStarts { world in
            let audiences = try ["de", "en"].map { try Audience.sample(variant: $0) }
            try await world.open(audiences: audiences)
            let withdrawn = try await world.stores.accept(.update(#"{"n":1}"#))
            #expect(try await world.stores.withdraw(withdrawn) == true)
            try await world.stores.accept(.update(#"{"n":2}"#, sendAt: world.now + 60))
            // The start uses the audience that was declared first, so an update for the second audience does not count.
            try await world.stores.accept(.update(#"{"n":3}"#, audiences: [audiences[1].id]))
            try await world.follow()
            #expect(try await world.push().text.contains(#""content-state":{"score":"0-0"}"#))
            try await world.stores.accept(.update(#"{"n":4}"#, byVariant: ["de": (#"{"n":"vier"}"#, nil)]))
            try await world.follow(late: true)
            #expect(try await world.push().text.contains(#"{"n":"vier"}"#))
        }
    }

    @Test func `later followers get the start until its time is over`() async throws {
        try await withStarts { world in
            try await world.open(start: StartWorld.start(at: world.now, until: world.now + 120))
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.report().state == .done)
            let late = try await (0..<2).asyncMap { _ in try await world.follow(late: true) }
            try await world.stores.pool.query("delete from follows where installation = \(late[1])")
            #expect(try await world.sendAll() == [late[0]])
            world.stores.clock.advance(by: 120)
            try await world.follow(late: true)
            #expect(try await world.sendAll().isEmpty)
        }
    }

    @Test func `an event longer than planned starts cards until it ends, also after a long pause`() async throws {
        try await withStarts { world in
            var draft = try Contract.EventDraft.sample(startsAt: world.now, endsAt: world.now + 60)
            draft.topics = ["team:rapid"]
            draft.start = StartWorld.start()
            try await world.stores.put(draft)
            try await world.stores.provision()
            try await world.sendAll()
            world.stores.clock.advance(by: 3_600)
            let first = try await world.follow(late: true)
            #expect(try await world.sendAll() == [first])
            // Nobody sends an end, and nobody plays.
            world.stores.clock.advance(by: 4 * 3_600)
            let second = try await world.follow(late: true)
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.report().state == .done)
            #expect(try await world.counts().ineligible.tooLate == 1)
            // The match goes on.
            try await world.stores.accept(.update())
            world.stores.clock.advance(by: 60)
            #expect(try await world.sendAll() == [second])
            try await world.stores.accept(.end())
            try await world.follow(late: true)
            #expect(try await world.sendAll().isEmpty)
        }
    }

    @Test func `system version, permission and token decide which form of start an installation gets`() async throws {
        try await withStarts(followers: 0) { world, _ in
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
            #expect(shard.members.map { shard.text($0.push).contains("input-push-channel") } == [false, true])
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
            #expect(shard.members.count == 1 && shard.text.contains(#""input-push-token":1"#))
        }
    }
}

/// Starts of an app with several audiences in an event: each follower is started on one of them.
struct VariantStartTests {
    private func audiences(_ names: String?...) throws -> [Audience] { try names.map { try .sample(variant: $0) } }

    private func channel(of variant: String?, _ world: StartWorld) async throws -> String {
        try #require(try await world.stores.lookup(variant: variant)?.channelId)
    }

    @Test func `a follower is started on its own variant, that of its locale, or the one without any`() async throws {
        try await withStarts { world in
            try await world.open(
                start: StartWorld.start(at: world.now, contentState: nil), audiences: audiences("de", nil, "home"))
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
            let shard = try await world.push()
            for (installation, variant) in followers {
                let member = try #require(shard.members.first { $0.row == installation })
                let channelID = try await channel(of: variant, world)
                #expect(shard.text(member.push).contains(channelID))
                #expect(shard.text(member.push).contains(variant.flatMap { contents[$0] } ?? #"{"n":1}"#))
            }
            let report = try await world.report()
            #expect(report.state == .done && report.counts.accepted == 5)
        }
    }

    @Test func `audiences start together, but do not wait for one without room for its channel`() async throws {
        try await withStarts { world in
            try await world.declare(audiences: audiences("de", "fr"))
            try await world.stores.align()
            for task in try await world.stores.claimChannels() where task.channel.variant?.rawValue == "de" {
                try await world.stores.record(.created(channelID: "apple-de"), of: task)
            }
            let followers = try await ["de", "fr"].asyncMap { try await world.follow(locale: $0) }
            #expect(try await world.sendAll().isEmpty)
            let report = try await world.report()
            #expect(report.state == .waiting && report.waitingFor == .channel && report.counts.pending == 2)
            try await world.stores.pool.query(
                """
                update channels set state = 'failed', reason = 'quota-exhausted', called_at = null
                where state = 'creating'
                """)
            world.stores.clock.advance(by: 2)
            #expect(try await world.sendAll() == followers)
            #expect(try await world.report().state == .done)
        }
    }

    /// The audience that the start selects, the one that is over, and the one of the follower.
    @Test(arguments: [(nil, nil, "de"), ("fr", nil, "fr"), (nil, "de", "fr")] as [(String?, String?, String)])
    func `an installation is started once, on a selected audience that is not over`(
        chosen: String?, over: String?, expected: String
    ) async throws {
        try await withStarts { world in
            let selected = try chosen.map { [try Audience.ID.sample(variant: $0)] }
            try await world.open(
                start: StartWorld.start(at: world.now, audiences: selected), audiences: audiences("de", "fr"))
            if let over { try await world.stores.accept(.end(audiences: [.sample(variant: over)])) }
            try await world.follow(locale: "de")
            let shards = try await world.claim()
            #expect(shards.map(\.members.count) == [1])
            let channelID = try await channel(of: expected, world)
            #expect(shards.first?.text.contains(channelID) == true)
            let reports = try await world.report().audiences
            #expect(over != nil || reports.map(\.variant) == [chosen] && reports[0].counts.followers == 1)
        }
    }

    @Test func `a start that is requested early names what it waits for, or runs`() async throws {
        try await withStarts { world in
            try await world.declare(start: StartWorld.start(at: world.now + 3_600, contentState: nil))
            try await world.follow()
            #expect(try await world.report(.dryRun).state == .scheduled)
            try await world.ask()
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
