internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Starts of an app with several audiences in an event: each follower is started on one of them.
struct VariantStartTests {
    private func audiences(_ names: String?...) throws -> [Audience] { try names.map { try .sample(variant: $0) } }

    private func channel(of variant: String?, _ world: StartWorld) async throws -> String? {
        try await world.stores.events.lookup(
            topic: "com.example.goal", in: .production, .sample(), variant: variant.flatMap(Variant.init),
            contentState: true, now: world.now)?.channelID
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
                let push = shard.pushes[member.push]
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
            for follower in late { try await world.queue(follower) }
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
            try await world.declare(
                start: StartWorld.start(
                    at: world.now, contentState: nil, audiences: try chosen.map { [try .sample(variant: $0)] }),
                audiences: audiences("de", "fr"))
            try await world.stores.provision()
            try await world.follow(locale: "de")
            try await world.stores.accept(.update(#"{"n":1}"#, byVariant: ["fr": (#"{"n":"un"}"#, nil)]))
            let shards = try await world.claim()
            #expect(shards.count == 1)
            let shard = try #require(shards.first)
            let member = try #require(shard.members.first)
            #expect(shard.members.count == 1)
            #expect(try await shard.pushes[member.push].channelID == channel(of: chosen ?? "de", world))
            let reports = try #require(
                try await world.starts.report(of: .sample(), within: .all, .asItIs, now: world.now))
            #expect(reports.map { $0.audience.variant?.rawValue } == [chosen])
            #expect(reports.first?.report.counts.followers == 1)
        }
    }

    @Test func `a waiting start names what it waits for`() async throws {
        try await withStarts { world in
            try await world.declare(start: StartWorld.start(at: world.now, contentState: nil))
            try await world.follow()
            func waits(_ reason: StartWait?) async throws {
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
