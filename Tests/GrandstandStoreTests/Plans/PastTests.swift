internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Frequent statements read only live rows. 30,000 events are over and 200 are live. A step of a plan may read only as
/// many rows as the live events account for.
@Suite(.timeLimit(.minutes(3)))
struct PastTests {
    static let past = 30_000
    private static let live = 200
    /// The number of rows that a step of a plan may read: ten for each live channel.
    static let bound = live * 10

    /// - Parameter analyzed: `false`: the statistics still say that the tables are empty, and the test gives the
    ///   statements nothing to change.
    @Test(arguments: [true, false])
    func `aligning, counting, forecasting and claiming do not read past events`(analyzed: Bool) async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            try await stores.open()
            try await Self.fill(database.pool, now: stores.now, analyzed: analyzed)
            let plans = Plans()
            try await PlanTests.withPool(
                .stores(connectionString: database.connectionString), plans, analyzing: true
            ) { pool in
                let channels = PostgresChannelStore(Database(pool))
                let reconciliations = PostgresReconciliationStore(Database(pool))
                // PostgreSQL decides on the final plan of a prepared statement after five executions.
                for _ in 1...7 {
                    #expect(try await channels.align(now: stores.now, tenure: Stores.tenure) == 0)
                    let quotas = try await channels.quotas(now: stores.now, tenure: Stores.tenure)
                    #expect(quotas.map(\.used).max() == Self.live + 1)
                    #expect(quotas.map(\.forecast.peak).max() == Self.live + 1)
                    _ = try await channels.claimDue(now: stores.now, leasedUntil: stores.now, limit: 32)
                    _ = try await channels.nextDue(now: stores.now)
                    _ = try await reconciliations.claimDue(interval: 0, now: stores.now, leasedUntil: stores.now)
                    _ = try await reconciliations.nextDue(interval: 0, now: stores.now)
                    let backlog = try await PostgresGaugeStore(Database(pool)).backlog(now: stores.now)
                    #expect(backlog.deliveries[.production]?.byState[.queued] == nil)
                }
                guard analyzed else { return }
                // Now there is something to do: one channel must be created, and ten must retire and be deleted.
                try await stores.put(.sample("new"))
                try await database.pool.query(
                    "update events set ended_at = \(stores.now) where key like 'live-1_'")
                #expect(try await channels.align(now: stores.now, tenure: Stores.tenure) >= 11)
                stores.clock.advance(by: Stores.retireAfter)
                let tasks = try await channels.claimDue(
                    now: stores.now, leasedUntil: stores.now.addingTimeInterval(10), limit: 32)
                #expect(tasks.count == 11)
                for task in tasks {
                    let change: ChannelOutcome.Change =
                        task.channel.state == .creating ? .created(channelID: "new") : .deleted
                    _ = try await channels.record(
                        ChannelOutcome(change, APNsRecord(status: 200, reason: nil, requestID: nil)), of: task,
                        by: .server, now: stores.now)
                }
            }
            #expect(plans.all.count > 50)
            for plan in plans.all {
                let rows = Self.rows(plan)
                #expect(rows <= Self.bound, "\(rows) rows: \(plan)")
            }
        }
    }

    @Test func `the number of rows that a query plan reads is counted`() {
        let plan = """
            Limit (actual time=0.1..0.2 rows=1 loops=1); -> Index Scan using a on b (cost=1..2 rows=9 width=3) (actual \
            time=0.0..0.1 rows=3 loops=20);   Rows Removed by Filter: 7; -> Seq Scan on c (never executed)
            """
        #expect(Self.rows(plan) == 200)
    }

    /// The most rows that one scan of a plan read, over all its loops.
    static func rows(_ plan: String) -> Int {
        var most = 0
        var scan: (rows: Double, loops: Double)?
        for line in plan.split(separator: ";") {
            if let match = line.firstMatch(of: /actual time=\S+ rows=([0-9.]+) loops=(\d+)/) {
                let isScan = line.contains("Scan")
                scan = isScan ? (Double(match.1) ?? 0, Double(match.2) ?? 0) : nil
            } else if let match = line.firstMatch(of: /Rows Removed by (?:Filter|Index Recheck): (\d+)/), scan != nil {
                scan?.rows += Double(match.1) ?? 0
            }
            if let scan { most = max(most, Int(scan.rows * scan.loops)) }
        }
        return most
    }

    /// Inserts events with a lane and a channel each. Past events have ended, their channels are deleted, and their
    /// messages are settled. Foreign keys and triggers are disabled for these inserts.
    static func fill(_ pool: PostgresPool, now: Date, analyzed: Bool) async throws {
        try await pool.withConnection { connection in
            try await connection.script(
                """
                set session_replication_role = replica;
                create temporary table n as
                    select n, n > \(past) as is_live,
                        case when n > \(past) then 'live-' || (n - \(past)) else 'past-' || n end as key,
                        to_timestamp(\(now.timeIntervalSince1970)) as now
                    from generate_series(1, \(past + live)) n;
                insert into events (key, name, starts_at, ends_at, channels_open_at, created_at, updated_at, ended_at)
                    select key, 'Match', now, case when n % 2 = 0 then now + interval '2 hours' end,
                        case when n % 3 = 0 then now end, now, now, case when not is_live then now end from n;
                insert into channels (id, bundle_id, environment, storage_policy, state, channel_id, event_key,
                        created_at, changed_at)
                    select md5('channel-' || n)::uuid, 'com.example.Goal', 'production', 'mostRecentMessageStored',
                        case when is_live then 'active' else 'deleted' end::channel_state, 'apple-' || n, key, now, now
                    from n;
                insert into lanes (id, bundle_id, environment, storage_policy, channel, newest_broadcast, fenced_at)
                    overriding system value
                    select n + 1000, 'com.example.Goal', 'production', 'mostRecentMessageStored',
                        case when is_live then md5('channel-' || n)::uuid end, md5('broadcast-' || n)::uuid,
                        case when not is_live then now end from n;
                insert into audiences (event_key, bundle_id, environment, storage_policy, position, lane)
                    select key, 'com.example.Goal', 'production', 'mostRecentMessageStored', 0, n + 1000 from n;
                insert into broadcasts (id, event_key, event, content_state, accepted_at)
                    select md5('broadcast-' || n)::uuid, key, 'update', '{}', now from n;
                insert into deliveries (broadcast_id, lane, state, is_end, alerting, priority, apns_expiration, expires_at,
                        attempts, apns_timestamp, apns_request_id, settled_at)
                    select md5('broadcast-' || n)::uuid, n + 1000, 'accepted', false, false, 5, 0, now, 1, 1,
                        md5('request-' || n)::uuid, now
                    from n, generate_series(1, 4);
                set session_replication_role = default;
                """)
            if analyzed { try await connection.script("vacuum analyze") }
        }
    }
}
