internal import FoundationEssentials
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization

/// Rows as they are after years of matches, and sessions that report the plans of their statements.
/// `auto_explain` reports, in notices, the plans of the statements that the stores really send.
enum PlanWorld {
    /// The number of events. Each has one row in every table of broadcasts.
    static let events = 20_000

    /// Inserts events with a lane, a channel and a settled message each. Foreign keys and triggers are disabled for
    /// these inserts.
    ///
    /// - Parameters:
    ///   - first: the number of events that exist already.
    ///   - past: the number of events that are over, whose channels are deleted. The later ones are live.
    ///   - messages: the number of settled messages of each event.
    ///   - analyzed: `false`: the statistics still say what they said before.
    static func fill(
        _ pool: PostgresPool, after first: Int = 0, events: Int = PlanWorld.events, past: Int = 0, messages: Int = 1,
        now: Date, analyzed: Bool
    ) async throws {
        try await pool.withConnection { connection in
            try await connection.script(
                """
                set session_replication_role = replica;
                create temporary table n as
                    select n, n > \(past) as is_live, 'event-' || n as key,
                        to_timestamp(\(now.timeIntervalSince1970)) as now
                    from generate_series(\(first + 1), \(events)) n;
                insert into events (key, name, starts_at, ends_at, channels_open_at, created_at, updated_at, ended_at)
                    select key, 'Match', case when \(past > 0) then now end,
                        case when \(past > 0) and n % 2 = 0 then now + interval '2 hours' end,
                        case when \(past > 0) and n % 3 = 0 then now end, now, now, case when not is_live then now end
                    from n;
                insert into channels (id, bundle_id, environment, storage_policy, state, channel_id, event_key,
                        created_at, changed_at)
                    select md5('channel-' || n)::uuid, 'com.example.Goal', 'production', 'mostRecentMessageStored',
                        case when is_live then 'active' else 'deleted' end::channel_state, 'apple-' || n, key, now, now
                    from n;
                insert into audiences (lane, event_key, bundle_id, environment, storage_policy, channel, newest_broadcast,
                        fenced_at)
                    overriding system value
                    select n + 1000, key, 'com.example.Goal', 'production', 'mostRecentMessageStored',
                        case when is_live then md5('channel-' || n)::uuid end, md5('broadcast-' || n)::uuid,
                        case when not is_live then now end from n;
                insert into broadcasts (id, event_key, event, content_state, accepted_at)
                    select md5('broadcast-' || n)::uuid, key, 'update', '{}', now - interval '1 day' from n;
                insert into deliveries (broadcast_id, lane, state, is_end, alerting, priority, apns_expiration, expires_at,
                        attempts, apns_timestamp, apns_request_id, settled_at)
                    select md5('broadcast-' || n)::uuid, n + 1000, 'accepted', false, false, 5, 0, now, 1, 1,
                        md5('request-' || n)::uuid, now - interval '1 day'
                    from n, generate_series(1, \(messages));
                drop table n;
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
    /// - Parameters:
    ///   - connections: with one connection, each statement uses the plan that was made for it earlier.
    ///   - analyzing: whether a plan has the number of rows that each step returned.
    static func withPool(
        _ configuration: PostgresConfiguration, _ plans: Plans, connections: Int = 2, analyzing: Bool = false,
        _ body: (PostgresPool) async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.maximumConnections = connections
        configuration.connectionString = explaining(configuration.connectionString, analyzing: analyzing)
        configuration.onNotices = plans.hear
        let pool = PostgresPool(configuration: configuration, logger: TestLog.logger("plans"))
        try await ending(with: { await pool.close() }) { try await body(pool) }
    }
}

/// Collects the plans that sessions report, each as one line.
final class Plans: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func forget() { texts.withLock { $0 = [] } }

    /// The first of these words that no plan contains; `nil`: there is a plan for each.
    func missing(of words: [String]) -> String? {
        let all = self.all
        return words.first { word in !all.contains { $0.contains(word) } }
    }

    /// A plan that reads a whole table; `nil`: there is none.
    func scan(of tables: [String]) -> String? {
        all.first { plan in tables.contains { plan.contains("Seq Scan on \($0)") } }
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

    func hear(_ notices: [PostgresError]) {
        let plans = notices.map(\.message).filter { $0.contains("plan:") }
            .map { $0.split(whereSeparator: \.isNewline).joined(separator: "; ") }
        texts.withLock { $0 += plans }
    }
}
