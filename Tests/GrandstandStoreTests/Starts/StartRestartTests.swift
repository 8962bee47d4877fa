internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Activities on a channel that was replaced.
struct StartRestartTests {
    /// An activity as its app reported it.
    private func report(
        _ installation: Int, state: String = "active", channel: String? = nil, token: String? = nil, _ world: StartWorld
    ) async throws {
        try await world.stores.pool.query(
            """
            insert into activities (installation, activity, app, event_key, attributes_type, state, channel_id,
                update_token, registered_at, reported_at, first_reported_at)
            select id, 'one', app, 'match-1', 'MatchAttributes', \(state)::activity_state, \(channel),
                decode(\(token), 'hex'), \(world.now), \(world.now), \(world.now)
            from installations where id = \(installation)
            on conflict (installation, activity) do update set state = excluded.state
            """)
    }

    private func loseChannel(_ world: StartWorld) async throws {
        try await world.stores.pool.query("update channels set state = 'missing' where state = 'active'")
        try await world.stores.provision()
    }

    private func declare(restarts: Bool, _ world: StartWorld) async throws {
        var start = StartWorld.start(at: world.now)
        start.restarts = restarts
        try await world.open(start: start)
    }

    @Test func `after a channel was replaced its listeners, and nobody else, are started again once`() async throws {
        try await withStarts { world in
            try await declare(restarts: true, world)
            let old = try await world.stores.channel().channelID
            var followers: [Int] = []
            for _ in 0..<5 { followers.append(try await world.follow()) }
            followers.append(try await world.follow(system: "17.5"))
            #expect(try await world.sendAll() == followers)
            try await report(followers[0], world)
            try await report(followers[1], channel: old, world)
            try await report(followers[2], state: "dismissed", world)
            try await report(followers[3], token: "aa01", world)
            // The fifth app reports nothing. The sixth reports an activity, but its phone does not support channels.
            try await report(followers[5], world)
            world.stores.clock.advance(by: 10)
            try await loseChannel(world)
            let new = try await world.stores.rows("channels where state = 'active'")
            #expect(new == 1)

            let shard = try #require(try await world.claim().first)
            #expect(shard.members.map(\.installation) == [followers[0], followers[1]])
            #expect(shard.pushes[0].channelID != old)
            try await world.settle(shard)
            // One app has reported the end of its old activity, the other has not yet.
            try await report(followers[0], state: "dismissed", world)
            #expect(try await world.sendAll().isEmpty)
            let report = try await world.report()
            #expect(report.state == .done && report.counts.accepted == 6)

            // An activity that was started again is older than the next channel, so it is started once more. An
            // activity that has ended is not started again.
            world.stores.clock.advance(by: 10)
            try await loseChannel(world)
            #expect(try await world.sendAll() == [followers[1]])
        }
    }

    @Test func `without the organiser's permission, or with the first channel, nobody is started again`() async throws {
        try await withStarts { world in
            try await declare(restarts: false, world)
            let follower = try await world.follow()
            #expect(try await world.sendAll() == [follower])
            try await report(follower, world)
            world.stores.clock.advance(by: 10)
            try await loseChannel(world)
            #expect(try await world.sendAll().isEmpty)
        }
    }
}
