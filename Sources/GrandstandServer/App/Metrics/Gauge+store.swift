internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The metrics of the database as a whole: unsettled rows, the database's size, and the last reconciliations.
struct GaugeStore: Sendable {
    let database: Database

    /// The work that waits now. Unsettled rows are counted by partial indexes, so the cost of the query depends on the
    /// amount of this work, not on the amount of history.
    func backlog(now: Date) async throws -> Backlog {
        let results = try await database.pipeline([
            Self.deliveries, Self.webhooks, Self.reconciliations, Self.size,
        ])
        var deliveries: [APNsEnvironment: Backlog.Deliveries] = [:]
        for row in results[0] {
            let environment: APNsEnvironment = try row.word("environment")
            var waiting = deliveries[environment] ?? Backlog.Deliveries()
            waiting.byState[try row.word("state")] = try row.decode("count")
            if let oldest = try row.decode(Date?.self, "oldest") {
                waiting.oldest = min(oldest, waiting.oldest ?? oldest)
            }
            deliveries[environment] = waiting
        }
        var reconciledAt: [AppEnvironment: Date] = [:]
        for row in results[2] {
            let app = AppEnvironment(
                bundleID: try row.word("bundle_id"), environment: try row.word("environment"))
            reconciledAt[app] = try row.decode("reconciled_at")
        }
        return Backlog(
            deliveries: deliveries, oldestWebhookMessage: try results[1].first?.decode(Date?.self, "oldest"),
            reconciledAt: reconciledAt, databaseBytes: try results[3][0].decode("bytes"))
    }

    /// `offset 0` makes the planner look rows up by key, one by one, whatever sizes it assumes for the tables.
    static let deliveries: PostgresQuery = """
        select l.environment, d.state, count(*) as count,
            min(case when d.state in ('queued', 'sending') and l.kind = 'channel'
                then greatest(b.accepted_at, b.send_at) end) as oldest
        from deliveries d
        cross join lateral (select environment, kind from lanes where id = d.lane offset 0) l
        cross join lateral (select send_at, accepted_at from broadcasts where id = d.broadcast_id offset 0) b
        where d.settled_at is null group by l.environment, d.state
        """

    static let webhooks: PostgresQuery = """
        select min(created_at) as oldest from webhook_messages where settled_at is null
        """

    private static let size: PostgresQuery = "select pg_database_size(current_database()) as bytes"

    static let reconciliations: PostgresQuery = """
        select ae.bundle_id, ae.environment, coalesce(r.finished_at, a.created_at) as reconciled_at
        from app_environments ae join apps a using (bundle_id)
        left join lateral (
            select finished_at from reconciliations
            where bundle_id = ae.bundle_id and environment = ae.environment
            order by started_at desc, id desc limit 1) r on true
        """
}

/// The work that waits in the database.
struct Backlog {
    /// The unsettled deliveries of one environment.
    struct Deliveries {
        var byState: [Contract.DeliveryState: Int] = [:]
        /// When the oldest delivery that could be sent was accepted, or its `sendAt`; `nil`: none waits. Messages whose
        /// channel does not exist yet are ignored. Messages to crowds are ignored, too, because a large crowd takes
        /// long.
        var oldest: Date?
    }

    var deliveries: [APNsEnvironment: Deliveries]
    /// When the oldest message that waits for its webhook was written.
    var oldestWebhookMessage: Date?
    /// When the newest successful reconciliation ended; if there was none, when the app was registered.
    var reconciledAt: [AppEnvironment: Date]
    /// The size of the database on disk, in bytes.
    var databaseBytes: Int
}
