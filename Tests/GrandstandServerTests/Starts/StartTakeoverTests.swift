internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// A start is sent to a token, and another installation registers this token meanwhile or later. Both installations are
/// one phone (also `StartPropertyTests`).
struct StartTakeoverTests {
    /// Registers an installation with a token, as its app does.
    ///
    /// - Returns: its row.
    private static func register(_ token: String, in world: StartWorld) async throws -> Int {
        let id = try Phones.id()
        _ = try await InstallationStore(Database(world.stores.pool)).put(
            Phones.state(token: token, topics: ["team:rapid"]), of: id, secret: Phones.secret, now: world.now)
        let rows = try await world.stores.pool.query("select id from installations where installation = \(id.id)")
        return try #require(rows.first).decode("id")
    }

    @Test(arguments: [true, false], [true, false])
    func `who logs out and in again with the same token gets no second card`(deletes: Bool, ends: Bool) async throws {
        try await withStarts { world in
            try await world.open()
            let id = try Phones.id()
            let store = InstallationStore(Database(world.stores.pool))
            func put(_ token: String?) async throws {
                _ = try await store.put(
                    Phones.state(token: token, topics: token == nil ? [] : ["team:rapid"]), of: id,
                    secret: Phones.secret, now: world.now)
            }
            try await put("aa")
            #expect(try await world.sendAll().count == 1)
            if ends {
                // The end is a mistake.
                try await world.stores.accept(.end())
                world.stores.clock.advance(by: 61)
                try await world.sendAll()
            }
            if deletes { try await store.forget(id, secret: Phones.secret) } else { try await put(nil) }
            let new = try await Self.register("aa", in: world)
            let other = try await Self.register("bb", in: world)
            if ends {
                let reopening = try await world.stores.events.reopen(.sample(), audiences: nil, now: world.now)
                // An installation that only lost its token counts, too.
                #expect(reopening.warnings.last?.contains("or may have got it: \(deletes ? 1 : 2).") == true)
            }
            #expect(try await world.sendAll() == [other])
            #expect(try await world.states()[new] == "accepted")
            #expect(try await world.counts().accepted == (deletes ? 2 : 3))
            #expect(try await world.stores.rows("starts where token is not null") == (deletes ? 0 : 1))
        }
    }

    // MARK: Effects on other installations

    @Test func `an uncommitted registration that takes over a token blocks no claim`() async throws {
        try await withStarts { world in
            try await world.open()
            let first = try await Self.register("aa", in: world)
            let sent = try await world.sendAll()
            #expect(sent == [first])
            let follower = try await world.follow(token: "bb")
            try await world.enlist(follower)
            // The last step of the registration waits for the commit of another transaction.
            let registering = try await world.stores.pool.transaction { connection in
                try await connection.query(
                    """
                    insert into starts (run, installation, state, at)
                    select id, (select last_value + 1 from installations_id_seq), 'unknown', now() from start_runs
                    """)
                let registering = Task { try await Self.register("aa", in: world) }
                try await world.stores.untilSomebodyWaits()
                #expect(try await world.claim().first?.members.map(\.installation) == [follower])
                return registering
            }
            _ = try await registering.value
        }
    }

    @Test func `an installation that registers tokens endlessly does not delay the starts of others`() async throws {
        try await withStarts { world in
            try await world.open()
            var followers: Set<Int> = []
            for _ in 0..<12 { followers.insert(try await world.follow()) }
            var reached: Set<Int> = []
            for round in 0..<6 {
                // In each round more installations register than a shard takes. One of them takes over the token `aa`.
                for n in 0..<5 { _ = try await Self.register(n == 0 ? "aa" : "bb\(round)\(n)", in: world) }
                let shard = try #require(try await world.claim(shardSize: 4).first)
                #expect(shard.members.count == 4)
                reached.formUnion(shard.members.map(\.installation))
                try await world.settle(shard)
            }
            #expect(reached.isSuperset(of: followers))
        }
    }

    @Test func `an installation that takes over a token while the start is stopped gets none later`() async throws {
        try await withStarts { world in
            try await world.open()
            let old = try await Self.register("aa", in: world)
            #expect(try await world.sendAll() == [old])
            try await world.stop()
            try await world.sendAll()
            #expect(try await world.stores.rows("start_runs where closed_at is not null") == 1)
            let new = try await Self.register("aa", in: world)
            let stopped = try await world.counts()
            #expect((stopped.followers, stopped.accepted) == (2, 2))
            try await world.ask()
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.states() == [old: "accepted", new: "accepted"])
        }
    }
}

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
        start.restart = restarts
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
