internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The cost of a shard depends only on the number of its members, whatever the number of other installations, the
/// statistics and the prepared plans.
@Suite(.timeLimit(.minutes(20)))
struct StartPlanTests {
    /// The number of rows that a step of a plan may read for a shard with `size` members, each with two topics.
    private static let bound = 4 * size
    private static let size = 50

    @Test(arguments: [true, false])
    func `a shard reads only the rows of its members`(dispatching: Bool) async throws {
        try await withDatabase(.own) { database in
            let world = StartWorld(StoreWorld(database))
            try await world.open(topics: ["a", "b"])
            for _ in 0..<8 { try await world.follow(["a", "b"]) }
            let plans = Plans()
            let configuration = PostgresConfiguration.stores(
                connectionString: database.connectionString, byKey: dispatching)
            try await PlanWorld.withPool(configuration, plans, connections: 1, analyzing: true) { pool in
                let starts = StartStore(Database(pool))
                try await Self.send(starts, world, shardSize: 1)
                try await Self.fill(database.pool, PlanWorld.events)
                plans.forget()
                try await Self.send(starts, world, shardSize: Self.size)
            }
            let words = [
                "from starts", "insert into starts as s", "update starts s set", "from follows",
            ]
            #expect(plans.missing(of: words) == nil)
            for plan in plans.all { #expect(Plans.rows(plan) <= Self.bound, "\(plan)") }
        }
    }

    /// Sends eight shards with every kind of verdict. PostgreSQL decides on the final plan of a prepared statement
    /// after five executions.
    private static func send(_ starts: StartStore, _ world: StartWorld, shardSize: Int) async throws {
        for _ in 0..<8 {
            var request = world.stores.request(2)
            request.shardSize = shardSize
            let shards = try await starts.claim(request)
            #expect(shards.map(\.members.count) == [shardSize])
            let verdicts: [TokenVerdict] = [
                .accepted, .gone(reason: "Unregistered", since: nil), .unknown(reason: "timeout"),
                .suspect(reason: "BadDeviceToken"),
                .retry(at: world.now + 3_600, reason: "TooManyRequests"),
            ]
            for shard in shards {
                try await starts.extendLeases(
                    of: [shard.owner], replica: world.stores.replica, until: world.now + 10)
                let outcomes = shard.members.enumerated().map { place, member in
                    PushOutcome(member: member, sentAt: world.now, verdict: verdicts[place % verdicts.count])
                }
                try await starts.settle(shard, outcomes, replica: world.stores.replica, now: world.now)
            }
            _ = try await starts.nextDue(in: .production)
        }
    }

    /// Inserts installations that follow both topics and whose starts are pending. Their IDs are higher than those of all
    /// other installations.
    private static func fill(_ pool: PostgresPool, _ count: Int) async throws {
        try await pool.withConnection { connection in
            try await connection.script(
                """
                set session_replication_role = replica;
                create temporary table n as
                    select n + 1000 as id, r.app, r.id as run, r.started_at as now
                    from generate_series(1, \(count)) n, start_runs r;
                insert into installations (id, app, installation, secret_hash, system_version, live_activities_enabled,
                        frequent_pushes_enabled, created_at, seen_at) overriding system value
                    select id, app, gen_random_uuid(), sha256('secret'), 18000, true, true, now, now from n;
                insert into follows (installation, topic, app) select id, t, app from n, unnest(array['a', 'b']) t;
                insert into start_tokens (installation, attributes_type, app, token, registered_at)
                    select id, 'MatchAttributes', app, int8send(id), now from n;
                insert into starts (run, installation, due_at, at) select run, id, now, now from n;
                insert into starts (run, installation, state, at)
                    select run + 1, id, 'accepted', now from n;
                update start_runs set cursor = null, due_at = started_at;
                set session_replication_role = default;
                """)
        }
    }
}
