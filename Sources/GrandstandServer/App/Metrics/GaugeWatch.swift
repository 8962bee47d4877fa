internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres
internal import Synchronization

/// The gauges of the whole database: quotas, unsettled rows, the database's size, and the last reconciliations. Each
/// replica reads and reports them. The quotas that it reads are also compared with their last levels, and sampled.
///
/// Unknown values are not reported: after a failed reading, the last values are dropped.
final class GaugeWatch: Sendable {
    /// Seconds after which values are dropped if the next reading takes longer, because the database hangs.
    private static let lifetime: TimeInterval = 15

    let database: Database
    let channels: ChannelStore
    /// How long events hold their channels, for the quota's forecast.
    let tenure: ChannelTenure
    /// The database's time.
    let now: @Sendable () -> Date
    private let reading = Mutex<(samples: [GaugeSample], at: Date)?>(nil)
    /// The last sample of the quotas. If no replica runs within a minute after a sample is due, it is missing and is not
    /// added later.
    private let sampledAt = Mutex(Date.distantPast)

    init(
        _ database: Database, channels: ChannelStore, tenure: ChannelTenure, now: @escaping @Sendable () -> Date
    ) {
        self.database = database
        self.channels = channels
        self.tenure = tenure
        self.now = now
    }

    /// The values of the last reading; empty: they are unknown.
    var current: [GaugeSample] {
        let now = now()
        return reading.withLock { reading in
            reading.flatMap { now.timeIntervalSince($0.at) < Self.lifetime ? $0.samples : nil } ?? []
        }
    }

    func look() async throws {
        do {
            let now = now()
            let quotas = try await channels.quotas(now: now, tenure: tenure)
            let samples = try await quotas.flatMap { Gauges.of($0, at: now) } + backlog(now: now)
            reading.withLock { $0 = (samples, now) }
            try await channels.noteLevels(of: quotas, now: now)
            let due = QuotaHistory.end(of: QuotaHistory.fine, at: now)
            guard now.timeIntervalSince(due) <= 60, sampledAt.withLock({ $0 < due }) else { return }
            try await channels.keepSamples(of: quotas, at: due)
            sampledAt.withLock { $0 = due }
        } catch {
            reading.withLock { $0 = nil }
            throw error
        }
    }

    /// The work that waits now. Unsettled rows are counted by partial indexes, so the cost of the query depends on the
    /// amount of this work, not on the amount of history.
    func backlog(now: Date) async throws -> [GaugeSample] {
        let results = try await database.pipeline([
            Self.deliveries, Self.webhooks, Self.reconciliations, Self.size,
        ])
        func age(_ row: PostgresRow?, _ column: String) throws -> Double {
            try row?.decode(Date?.self, column).map { max(0, now.timeIntervalSince($0)) } ?? 0
        }
        var waiting: [APNsEnvironment: [Contract.DeliveryState: PostgresRow]] = [:]
        for row in results[0] { waiting[try row.word("environment"), default: [:]][try row.word("state")] = row }
        let deliveries = try APNsEnvironment.allCases.flatMap { environment in
            let label = [("environment", environment.rawValue)]
            let rows = waiting[environment] ?? [:]
            return try Contract.DeliveryState.allCases.filter { !$0.isSettled }.map { state in
                GaugeSample(
                    "grandstand_deliveries_pending", label + [("state", state.rawValue)],
                    Double(try rows[state]?.decode(Int.self, "count") ?? 0))
            } + [
                GaugeSample(
                    "grandstand_delivery_oldest_seconds", label,
                    try rows.values.map { try age($0, "oldest") }.max() ?? 0)
            ]
        }
        let reconciliations = try results[2].map { row in
            GaugeSample(
                "grandstand_reconciliation_age_seconds",
                [("bundle_id", try row.decode("bundle_id")), ("environment", try row.decode("environment"))],
                try age(row, "reconciled_at"))
        }
        return deliveries + reconciliations
            + [
                GaugeSample("grandstand_webhook_oldest_seconds", try age(results[1].first, "oldest")),
                GaugeSample("grandstand_database_bytes", Double(try results[3][0].decode(Int.self, "bytes"))),
            ]
    }

    /// With the time at which the oldest delivery that could be sent was accepted, or its `sendAt`. Messages whose channel
    /// does not exist yet are ignored. Messages to tokens are ignored, too, because many tokens take long.
    ///
    /// `offset 0` makes the planner look rows up by key, one by one, whatever sizes it assumes for the tables.
    private static let deliveries: PostgresQuery = """
        select l.environment, d.state, count(*) as count,
            min(case when d.state in ('queued', 'sending') and d.tokens is null
                then greatest(b.accepted_at, b.send_at) end) as oldest
        from deliveries d
        cross join lateral (select environment from audiences where lane = d.lane offset 0) l
        cross join lateral (select send_at, accepted_at from broadcasts where id = d.broadcast_id offset 0) b
        where d.settled_at is null group by l.environment, d.state
        """

    private static let webhooks: PostgresQuery = """
        select min(created_at) as oldest from webhook_messages where settled_at is null
        """

    private static let size: PostgresQuery = "select pg_database_size(current_database()) as bytes"

    /// The end of the newest successful reconciliation; if there was none, when the app was registered.
    private static let reconciliations: PostgresQuery = """
        select ae.bundle_id, ae.environment::text, coalesce(r.finished_at, a.created_at) as reconciled_at
        from app_environments ae join apps a using (bundle_id)
        left join lateral (
            select finished_at from reconciliations
            where bundle_id = ae.bundle_id and environment = ae.environment
            order by started_at desc, id desc limit 1) r on true
        """
}
