internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// A token that changes hands while a start goes to it, or after: both holders are one phone.
struct StartTakeoverTests {
    /// Registers an installation with a token, as its app does.
    ///
    /// - Returns: its row.
    private static func register(_ token: String, in world: StartWorld) async throws -> Int {
        let id = UUID()
        let store = PostgresInstallationStore(Database(world.stores.pool))
        _ = try await store.put(
            InstallationState(
                systemVersion: try #require(SystemVersion("18.4")),
                startTokens: ["MatchAttributes": try #require(DeviceToken(hex: token))],
                topics: [try #require(Topic(rawValue: "team:rapid"))]),
            of: InstallationID(bundleID: .sample(), environment: .production, id: id),
            secret: String(repeating: "s", count: 43), now: world.now)
        let row = try await world.stores.pool.query("select id from installations where installation = \(id)").first
        return try #require(row).decode("id")
    }

    private static func states(_ world: StartWorld) async throws -> [Int: String] {
        var states: [Int: String] = [:]
        for row in try await world.stores.pool.query("select installation, state from starts") {
            states[try row.decode("installation")] = try row.decode("state")
        }
        return states
    }

    @Test(arguments: [
        TokenVerdict.retry(at: Date(timeIntervalSince1970: 0), reason: "Shutdown"), .rejected(reason: "BadTopic"), nil,
    ])
    func `who takes a token over from a push that APNs did not process gets the next`(verdict: TokenVerdict?)
        async throws
    {
        try await withStarts { world in
            try await world.open()
            let old = try await Self.register("aa", in: world)
            let shard = try #require(try await world.claim().first)
            #expect(shard.members.map(\.installation) == [old])
            let new = try await Self.register("aa", in: world)
            #expect(try await Self.states(world) == [new: "unknown"])
            try await world.settle(shard) { _ in verdict }
            #expect(try await world.sendAll() == [new])
            #expect(try await Self.states(world)[new] == "accepted")
        }
    }

    @Test(arguments: [TokenVerdict.accepted, .unknown(reason: "timeout")])
    func `who takes a token over from a push that may have been made gets none`(verdict: TokenVerdict) async throws {
        try await withStarts { world in
            try await world.open()
            _ = try await Self.register("aa", in: world)
            let shard = try #require(try await world.claim().first)
            let new = try await Self.register("aa", in: world)
            try await world.settle(shard) { _ in verdict }
            #expect(try await world.sendAll().isEmpty)
            #expect(try await Self.states(world)[new] == "unknown")
        }
    }

    @Test func `an installation that takes a token over while the start is stopped gets none when it goes on`()
        async throws
    {
        try await withStarts { world in
            try await world.open()
            let old = try await Self.register("aa", in: world)
            #expect(try await world.sendAll() == [old])
            try await world.starts.stop(.sample(), within: .all, by: .commandLine, now: world.now)
            try await world.sendAll()
            #expect(
                try await world.stores.count("select count(*) as n from start_runs where closed_at is not null") == 1)
            let new = try await Self.register("aa", in: world)
            let stopped = try await world.counts()
            #expect(stopped.followers == 2)
            #expect(stopped.accepted == 2)
            try await world.starts.startNow(.sample(), within: .all, by: .commandLine, now: world.now)
            #expect(try await world.sendAll().isEmpty)
            #expect(try await Self.states(world) == [old: "accepted", new: "accepted"])
        }
    }
}
