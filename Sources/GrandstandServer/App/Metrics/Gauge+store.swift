internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Counts unsettled rows by partial indexes, so old settled rows cost nothing. Also reads the database size and the
/// last reconciliations.
struct PostgresGaugeStore: GaugeStore {
    private let database: Database

    init(_ database: Database) { self.database = database }

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
        select min(created_at) as oldest from webhook_deliveries where settled_at is null
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
