internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// Reconciliations: leases in `app_environments`, first sights in `unmanaged_channels`, reports in `reconciliations`.
///
/// A run holds a lease on one app and environment. Each step of a run fails with `busyProblem` if another replica has
/// the lease by now.
extension ChannelStore {
    /// The number of reports that are kept for each app and environment.
    private static let maxReports = 50

    /// The maximum length of a report in a list, in characters; longer reports are abridged.
    private static let maxListedChars = 20_000

    /// Whether a run of the app `ae` is due: if `interval` seconds have passed since the last run (0: never for this
    /// reason), at its time after a failed run, if Apple's list shows the outcome of an unanswered creation by now, or if
    /// a channel in doubt must be checked. A run looks at all of these, so one run every two seconds is enough, however
    /// many messages are refused.
    ///
    /// Few creations are unanswered, so PostgreSQL should use the index of these. `bundle_id || ''` prevents the use of
    /// the index of apps.
    private static func isDue(_ interval: TimeInterval, now: Date) -> PostgresQuery {
        """
        (ae.reconcile_at <= \(now)
            or \(interval > 0) and ae.deleting_since is null and ae.reconciled_at <= \(now - interval)
            or ae.reconcile_at is null and ae.reconciled_at <= \(now - 2) and \(now) >= least(
                (select min(c.next_attempt_at) from channels c where c.bundle_id || '' = ae.bundle_id
                    and c.environment = ae.environment and c.called_at is not null),
                (select min(c.examine_at) from channels c
                    where \(AudienceColumns.isOfSameApp("c", "ae")) and c.doubted_at is not null)))
        """
    }

    /// Seconds from the check of a channel to its next check, whether the doubt was wrong or could not be resolved.
    static let doubtRest: TimeInterval = 30

    /// Leases the app and environment that has waited longest for a run that is due.
    func claimDue(interval: TimeInterval, now: Date, leasedUntil: Date) async throws -> ReconciliationRun? {
        try await lease(where: Self.isDue(interval, now: now), now: now, leasedUntil: leasedUntil)
    }

    /// Leases one app and environment.
    ///
    /// - Throws: `app-not-found`, `reconciliation-running`.
    func beginReconciliation(_ app: AppEnvironment, now: Date, leasedUntil: Date) async throws -> ReconciliationRun {
        let isNamed: PostgresQuery = "\(AppColumns.isOfTopic(app, row: "ae")) and ae.deleting_since is null"
        if let run = try await lease(where: isNamed, now: now, leasedUntil: leasedUntil) { return run }
        throw try await address(of: app) == nil ? Problem.noApp(app.bundleID) : Self.busyProblem
    }

    private func lease(where condition: PostgresQuery, now: Date, leasedUntil: Date) async throws -> ReconciliationRun?
    {
        try await database.query(
            """
            with due as (
                select ae.bundle_id, ae.environment from app_environments ae \(Self.addressJoins)
                where (ae.reconciling_until is null or ae.reconciling_until <= \(now)) and \(condition)
                order by coalesce(ae.reconcile_at, ae.reconciled_at) limit 1
                for no key update of ae skip locked
            ), leased as (
                update app_environments ae
                set reconciling_by = \(UUID()), reconciling_until = \(leasedUntil)
                from due where \(AudienceColumns.isOfSameApp("ae", "due")) returning ae.*
            )
            select ae.reconciling_by, \(Self.addressColumns) from leased ae \(Self.addressJoins)
            """
        ).first.map { row in
            ReconciliationRun(id: try row.decode("reconciling_by"), address: try row.read(), startedAt: now)
        }
    }

    func extend(_ run: ReconciliationRun, until: Date) async throws {
        try await database.query(
            """
            update app_environments set reconciling_until = \(until)
            where \(AppColumns.isOf(run.address.app)) and reconciling_by = \(run.id)
            """)
    }

    /// Stores the report and ends the lease. Webhooks are told if it found something new.
    ///
    /// - Parameter recreates: the app's creations that wait for their next attempt are due now, whatever they wait for.
    func finish(
        _ run: ReconciliationRun, _ report: Contract.Reconciliation, recreates: Bool = false, now: Date
    ) async throws {
        let (app, alarm) = (run.address.app, report.alarm)
        try await database.forLongWork.transaction { connection in
            let standing = try await Self.lockLeased(run, on: connection)
            var statements: [PostgresQuery] = [
                // If this run could not resolve a doubt, a later run checks the doubt again. A dry run checked none.
                """
                update channels set examine_at = \(now + Self.doubtRest)
                where \(AppColumns.isOf(app)) and examine_at <= \(now) and doubted_at <= \(run.startedAt)
                    and \(report.applied || alarm != nil)
                """,
                """
                insert into reconciliations
                    (id, bundle_id, environment, started_at, finished_at, report)
                values (\(report.id)::text::uuid, \(app.bundleID.rawValue),
                    \(app.environment.rawValue)::environment, \(report.startedAt),
                    \(report.finishedAt), \(PostgresJSON(bytes: JSONWriter.text(report))))
                """,
                """
                delete from reconciliations r where \(AppColumns.isOf(app, row: "r")) and r.started_at < (
                    select started_at from reconciliations where \(AppColumns.isOf(app))
                    order by started_at desc offset \(Self.maxReports - 1) limit 1)
                """, Self.endLease(run, now: now, alarm: "\(alarm?.rawValue)::text::reconciliation_alarm"),
            ]
            if recreates { statements += Self.hasten(app, now: now) }
            func tell(_ topic: Contract.WebhookTopic, _ data: some Encodable) {
                statements.append(WebhookNews.message(topic, about: report.bundleId, at: now, data))
            }
            if let found = Contract.ReconciliationFound(report, standing: standing) {
                tell(.reconciliationFound, found)
            }
            if alarm == .capabilityOff, standing != .capabilityOff {
                tell(
                    .capabilityOff,
                    Contract.CapabilityOff(
                        bundleId: report.bundleId, environment: report.environment,
                        evidence: "Apple's list has none of the channels that are known here"))
            }
            try await connection.pipeline(statements)
        }
    }

    /// Ends the lease of a failed run. The run is due again at `again`.
    func fail(_ run: ReconciliationRun, again: Date, now: Date) async throws {
        try await database.query(Self.endLease(run, now: now, again: again))
    }

    private static func endLease(
        _ run: ReconciliationRun, now: Date, again: Date? = nil, alarm: PostgresQuery = "alarm"
    )
        -> PostgresQuery
    {
        """
        update app_environments set reconciled_at = \(now), reconcile_at = \(again),
            alarm = \(alarm), reconciling_by = null, reconciling_until = null
        where reconciling_by = \(run.id)
        """
    }

    /// The error if another run has the lease. The step changed nothing.
    private static let busyProblem = Problem(
        .reconciliationRunning, "Another run reconciles this app now. GET the list of reconciliations for its report.",
        retryAfter: 5)

    /// Locks the app's row in `app_environments` until the commit, if the run still has its lease. This row lock also
    /// protects the app's quota.
    ///
    /// - Returns: the alarm that is set.
    /// - Throws: `busyProblem`.
    @discardableResult static func lockLeased(_ run: ReconciliationRun, on connection: PostgresConnection) async throws
        -> Contract.ReconciliationAlarm?
    {
        let row = try await connection.query(
            """
            select alarm from app_environments
            where \(AppColumns.isOf(run.address.app)) and reconciling_by = \(run.id) for no key update
            """
        ).first
        guard let row else { throw busyProblem }
        return try row.optionalWord("alarm")
    }

    /// - Throws: `reconciliation-not-found`.
    func report(_ id: UUID, of app: AppEnvironment) async throws -> Contract.Reconciliation {
        let row = try await database.query(
            """
            select r.report from reconciliations r join apps a using (bundle_id)
            where r.id = \(id) and \(AppColumns.isOfTopic(app, row: "r"))
            """
        ).first
        guard let row else {
            throw Problem(
                .reconciliationNotFound,
                "There is no reconciliation \(id.text). The last \(Self.maxReports) are kept.")
        }
        return try Self.report(row)
    }

    /// Reports, the newest first. A long report has the member `abridged` in place of its lists.
    func reports(of app: AppEnvironment, _ page: PageRequest) async throws -> Contract.Page<Contract.Reconciliation> {
        try await database.page(
            page, by: "started_at", newestFirst: true,
            of: """
                select r.id, r.started_at,
                    case when length(r.report::text) <= \(Self.maxListedChars) then r.report
                    else (r.report::jsonb - '{missing,unmanaged,actions}'::text[]
                        || '{"abridged": true}')::json end as report
                from reconciliations r join apps a using (bundle_id)
                where \(AppColumns.isOfTopic(app, row: "r"))
                """, as: { try $0.map(Self.report) })
    }

    private static func report(_ row: PostgresRow) throws -> Contract.Reconciliation {
        let bytes = try row.decode(PostgresJSON.self, "report").bytes
        return try JSONValue(parsing: bytes, maximumValues: .max).decode()
    }
}

/// The lease on one app and environment for a run.
struct ReconciliationRun: Sendable {
    var id: UUID
    var address: APNsAddress
    var startedAt: Date
}
