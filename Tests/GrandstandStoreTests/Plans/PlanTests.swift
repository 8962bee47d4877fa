internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Logging
internal import Postgres
internal import Synchronization
internal import Testing

/// The plans that PostgreSQL makes for the statements that must stay cheap, however much history there is.
/// `auto_explain` reports, in notices, the plans of the statements that the stores really send.
@Suite(.timeLimit(.minutes(3)))
struct PlanTests {
    @Test func `accepting, claiming, settling and looking up read few rows`() async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            try await stores.open()
            try await Self.fill(database.pool, analyzed: true)
            let plans = Plans()
            try await Self.withPool(.outbox(connectionString: database.connectionString), plans) { pool in
                try await Self.updates(PostgresOutbox(Database(pool)), nil, stores, events: 99_980)
                let directSends = ManualDirectSends(places: 100, clock: stores.clock, laneInterval: 1)
                try await Self.updates(
                    PostgresOutbox(Database(pool), directSends: directSends), directSends, stores, events: 99_980)
            }
            try await Self.withPool(.stores(connectionString: database.connectionString), plans) { pool in
                let events = PostgresEventStore(Database(pool))
                for (round, contentState) in [false, true, false, true].enumerated() {
                    let entry = try await events.lookup(
                        topic: "com.example.goal", in: .production, try .sample("event-\(round + 1)"),
                        contentState: contentState, now: stores.now)
                    #expect(entry != nil)
                }
                let source = PostgresLookupSource(Database(pool))
                for round in 1...4 {
                    #expect(try await source.records(of: [.sample("event-\(round)")]).count == 1)
                }
            }
            Self.check(plans.all)
            #expect(plans.all.contains { $0.contains("topic = r.topic") })
        }
    }

    /// The tables were empty until minutes before kick-off. When the match begins, the statistics and the prepared
    /// plans are still those of the empty tables.
    ///
    /// - Parameters:
    ///   - together: how many updates are accepted together. Whether PostgreSQL plans a statement anew or keeps one
    ///     plan for ever depends on this number.
    ///   - atOnce: whether the updates are claimed in the transaction that accepts them.
    @Test(arguments: zip([600, 20, 20, 2, 2], [true, false, true, false, true]))
    func `plans made while the tables were empty read few rows`(together: Int, atOnce: Bool) async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            try await stores.open()
            try await Self.fill(database.pool, events: 20, analyzed: true)
            let plans = Plans()
            var configuration = PostgresConfiguration.outbox(connectionString: database.connectionString)
            configuration.maximumConnections = 1
            try await Self.withPool(configuration, plans) { pool in
                let directSends =
                    atOnce ? ManualDirectSends(places: together, clock: stores.clock, laneInterval: 1) : nil
                let outbox = PostgresOutbox(Database(pool), directSends: directSends)
                try await Self.updates(outbox, directSends, stores, events: 20, together: min(20, together))
                try await Self.fill(database.pool, after: 20, analyzed: false)
                plans.forget()
                try await Self.updates(outbox, directSends, stores, events: 99_980, together: together)
            }
            Self.check(plans.all, claims: !atOnce)
            for plan in plans.all { #expect(Self.isBound(plan), "\(plan)") }
            // With two rows a plan may compare each row with each other row.
            for plan in plans.all where together > 2 { #expect(!Self.comparesAll(plan), "\(plan)") }
        }
    }

    /// Whether a join of the plan compares each lane or delivery with each other one.
    private static func comparesAll(_ plan: String) -> Bool {
        plan.split(separator: ";").contains {
            $0.contains("Join Filter") && $0.contains(/\.lane\b|\b[dl](_\d+)?\.id\b/)
        }
    }

    /// Whether no index scan of the plan reads a whole table.
    private static func isBound(_ plan: String) -> Bool {
        // In the log, the lines of a notice are joined by `; `.
        let lines = plan.split(separator: ";")
        let readsAll = zip(lines, lines.dropFirst()).contains { line, next in
            line.contains("Index") && line.contains("Scan using")
                && ["deliveries", "lanes", "broadcasts", "audiences", "events", "channels"]
                    .contains { line.contains(" on \($0)") }
                && !next.contains("Index Cond")
                && !plan.contains("order by bundle_id limit 1")
        }
        return !readsAll
    }

    /// Eight rounds of updates, from their acceptance to Apple's answer. PostgreSQL decides on the final plan of a
    /// prepared statement after five executions.
    private static func updates(
        _ outbox: PostgresOutbox, _ directSends: ManualDirectSends?, _ stores: Stores, events: Int,
        together: Int = 20
    ) async throws {
        for round in 0..<8 {
            let keys = (0..<together).map { "event-\(($0 * 4_999 + $0 / 20 * 7 + round) % events + 1)" }
            let accepted = try await outbox.accept(
                try keys.map { BroadcastIntake(eventKey: try .sample($0), request: .update()) }, now: stores.now,
                plan: Stores.plan)
            #expect(try accepted.map { try $0.get() }.count == together)
            let claimed =
                if let directSends {
                    directSends.take()
                } else {
                    try await outbox.claim(
                        LaneClaim(
                            environment: .production, limit: together, replica: stores.replica, at: stores.now,
                            leasedUntil: stores.now.addingTimeInterval(8), laneInterval: 1))
                }
            #expect(claimed.count == together)
            let receipt = APNsReceipt(requestID: nil)
            try await outbox.settle(
                claimed.map {
                    Settlement(delivery: $0.id, lane: $0.lane, verdict: .accepted(receipt), at: stores.now)
                },
                replica: directSends?.replica ?? stores.replica, now: stores.now)
            _ = try await outbox.nextDue(in: .production)
            _ = try await outbox.nextScheduled()
            stores.clock.advance(by: 2)
        }
    }

    private static func check(_ seen: [String], claims: Bool = true) {
        #expect(seen.count > 40)
        for name in ["deliveries", "lanes", "broadcasts", "audiences", "events", "channels"] {
            let through = seen.filter { $0.contains("Seq Scan on \(name)") }
            #expect(through.isEmpty, "\(through.first ?? "")")
        }
        for words in ["insert into deliveries", "update deliveries"] + (claims ? ["for no key update skip locked"] : [])
        {
            #expect(seen.contains { $0.contains(words) }, "no plan of: \(words)")
        }
    }

    /// Inserts rows as they are after years of matches. Foreign keys and triggers are disabled for these inserts.
    ///
    /// - Parameter last: the number of events that exist already.
    static func fill(
        _ pool: PostgresPool, after last: Int = 0, events: Int = 100_000, analyzed: Bool
    ) async throws {
        let range = "generate_series(\(last + 1), \(events)) n"
        try await pool.withConnection { connection in
            try await connection.script(
                """
                set session_replication_role = replica;
                insert into events (key, name, created_at, updated_at)
                    select 'event-' || n, 'Match', now(), now() from \(range);
                insert into channels (id, bundle_id, environment, storage_policy, state, channel_id, event_key,
                        created_at, changed_at)
                    select md5('channel-' || n)::uuid, 'com.example.Goal', 'production', 'mostRecentMessageStored',
                        'active', 'apple-' || n, 'event-' || n, now(), now() from \(range);
                insert into lanes (id, bundle_id, environment, storage_policy, channel, newest_broadcast)
                    overriding system value
                    select n + 1000, 'com.example.Goal', 'production', 'mostRecentMessageStored',
                        md5('channel-' || n)::uuid, md5('broadcast-' || n)::uuid from \(range);
                insert into audiences (event_key, bundle_id, environment, storage_policy, position, lane)
                    select 'event-' || n, 'com.example.Goal', 'production', 'mostRecentMessageStored', 0, n + 1000
                    from \(range);
                insert into broadcasts (id, event_key, event, content_state, accepted_at)
                    select md5('broadcast-' || n)::uuid, 'event-' || n, 'update', '{}', now() - interval '1 day'
                    from \(range);
                insert into deliveries (broadcast_id, lane, state, is_end, alerting, priority, apns_expiration, expires_at,
                        attempts, apns_timestamp, apns_request_id, settled_at)
                    select md5('broadcast-' || n)::uuid, n + 1000, 'accepted', false, false, 5, 0, now(), 1, 1,
                        md5('request-' || n)::uuid, now() - interval '1 day'
                    from \(range), generate_series(1, 10);
                set session_replication_role = default;
                """)
            if analyzed { try await connection.script("vacuum analyze") }
        }
    }

    private static func explaining(_ connectionString: String, analyzing: Bool) -> String {
        let options =
            "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 "
            + "-c auto_explain.log_analyze=\(analyzing ? "on" : "off") -c auto_explain.log_nested_statements=on "
            + "-c auto_explain.log_level=notice -c client_min_messages=notice"
        guard connectionString.contains("://") else { return "\(connectionString) options='\(options)'" }
        return connectionString + "&options="
            + options.replacing(" ", with: "%20").replacing("=", with: "%3D")
    }

    /// Runs a test with sessions that report the plan of every statement as a notice of libpq.
    ///
    /// - Parameter analyzing: whether a plan has the number of rows that each step returned.
    static func withPool(
        _ configuration: PostgresConfiguration, _ plans: Plans, analyzing: Bool = false,
        _ body: (PostgresPool) async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.maximumConnections = min(configuration.maximumConnections, 2)
        configuration.connectionString = explaining(configuration.connectionString, analyzing: analyzing)
        let pool = PostgresPool(configuration: configuration, logger: plans.logger)
        do {
            try await body(pool)
            await pool.close()
        } catch {
            await pool.close()
            throw error
        }
    }
}

/// A log handler that collects plans.
final class Plans: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func forget() { texts.withLock { $0 = [] } }

    var logger: Logger {
        Logger(label: "plans") { _ in Handler(plans: self) }
    }

    private struct Handler: LogHandler {
        let plans: Plans
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard let notice = event.metadata?["notice"]?.description, notice.contains("plan:") else { return }
            plans.texts.withLock { $0.append(notice) }
        }
    }
}
