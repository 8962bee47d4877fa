internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// Reconciliations: leases in `app_environments`, first sights in `unmanaged_channels`, reports in `reconciliations`.
///
/// A run holds a lease on one app and environment. Each step of a run fails with `lost` if another replica has the lease
/// by now.
extension ChannelStore {
    /// The number of reports that are kept for each app and environment.
    private static let keptReports = 50

    /// The maximum length of a report in a list, in characters; longer reports are abridged.
    private static let longestInList = 20_000

    /// When a run of the app `ae` is due; null: never. A run is due if somebody requested it, if `interval` seconds have
    /// passed since the last run (0: never for this reason), if Apple's list shows the outcome of an unanswered creation
    /// by now, or if a channel in doubt must be checked. A run checks all doubts, so one run every two seconds is enough,
    /// however many messages are refused.
    ///
    /// Few creations are unanswered, so PostgreSQL should use the index of these. `bundle_id || ''` prevents the use of
    /// the index of apps.
    private static func dueAt(_ interval: TimeInterval) -> PostgresQuery {
        """
        least(
            ae.reconcile_at,
            case when \(interval)::float8 > 0 and ae.deleting_since is null
                then ae.reconciled_at + make_interval(secs => \(interval)) end,
            case when ae.reconcile_at is null then (
                select min(c.next_attempt_at) from channels c
                where c.bundle_id || '' = ae.bundle_id and c.environment = ae.environment and c.called_at is not null)
            end,
            case when ae.reconcile_at is null then (
                select greatest(min(c.examine_at), ae.reconciled_at + make_interval(secs => \(doubtInterval)))
                from channels c where c.bundle_id = ae.bundle_id and c.environment = ae.environment
                    and c.doubted_at is not null having count(*) > 0)
            end)
        """
    }

    /// `doubtInterval`: the shortest time from a run to the next run that is only for doubts, in seconds. `doubtRest`:
    /// seconds from the check of a channel to its next check, whether the doubt was wrong or could not be resolved.
    private static let doubtInterval: TimeInterval = 2
    static let doubtRest: TimeInterval = 30

    /// Leases the app and environment that has waited longest for a run that is due.
    func claimDue(
        interval: TimeInterval, now: Date, leasedUntil: Date
    ) async throws -> ReconciliationRun? {
        try await lease(where: "\(Self.dueAt(interval)) <= \(now)", now: now, leasedUntil: leasedUntil)
    }

    /// Requests a run as soon as possible, unless Apple's list was read within the last minute.
    func requestReconciliation(_ app: AppEnvironment, now: Date) async throws {
        try await database.query(
            """
            update app_environments ae set reconcile_at = least(ae.reconcile_at, \(now))
            from apps a where a.bundle_id = ae.bundle_id and \(AppColumns.isNamed(app, row: "ae"))
                and (ae.apple_asked_at is null or ae.apple_asked_at < \(now.addingTimeInterval(-60)))
            """)
    }

    /// Leases one app and environment.
    ///
    /// - Throws: `app-not-found`, `reconciliation-running`.
    func begin(
        _ app: AppEnvironment, now: Date, leasedUntil: Date
    ) async throws -> ReconciliationRun {
        let run = try await lease(
            where: """
                ae.environment = \(app.environment.rawValue)::environment and ae.deleting_since is null
                    and ae.bundle_id = (select bundle_id from apps where topic = \(app.bundleID.topic))
                """, now: now, leasedUntil: leasedUntil)
        if let run { return run }
        guard try await address(of: app) != nil else { throw Problem.noApp(app.bundleID) }
        throw Problem(
            .reconciliationRunning,
            "\(app.bundleID) is being reconciled in \(app.environment.rawValue). GET the list of reconciliations for its "
                + "report, or try again.", retryAfter: 5)
    }

    private func lease(
        where condition: PostgresQuery, now: Date, leasedUntil: Date
    ) async throws -> ReconciliationRun? {
        try await database.query(
            """
            with due as (
                select ae.bundle_id, ae.environment from app_environments ae
                where (ae.reconciling_until is null or ae.reconciling_until <= \(now)) and \(condition)
                order by coalesce(ae.reconcile_at, ae.reconciled_at) limit 1 for no key update skip locked
            ), leased as (
                update app_environments ae set reconciling_by = \(UUID()), reconciling_until = \(leasedUntil)
                from due where ae.bundle_id = due.bundle_id and ae.environment = due.environment returning ae.*
            )
            select ae.reconciling_by, ae.reconcile_failures::bigint as failures, \(Self.addressColumns)
            from leased ae \(Self.addressJoins)
            """
        ).first.map { row in
            ReconciliationRun(
                id: try row.decode("reconciling_by"), address: try row.read(), startedAt: now,
                failures: try row.decode("failures"))
        }
    }

    /// When the next run is due; `nil`: never.
    func nextDue(interval: TimeInterval, now: Date) async throws -> Date? {
        try await database.query(
            "select min(greatest(ae.reconciling_until, \(Self.dueAt(interval)))) as at from app_environments ae"
        ).first?.decode(Date?.self, "at")
    }

    func extend(_ run: ReconciliationRun, until: Date) async throws {
        let extended = try await database.query(
            """
            update app_environments set reconciling_until = \(until)
            where \(AppColumns.isOf(run.address.app)) and reconciling_by = \(run.id)
            """)
        if extended.affectedRows == 0 { throw Self.lost }
    }

    /// Stores the report, ends the lease, and requests another run at `again` if that is not `nil`.
    ///
    /// - Parameter recreates: the app's creations that wait for their next attempt are due now, whatever they wait for.
    func finish(
        _ run: ReconciliationRun, _ report: Contract.Reconciliation, again: Date?, recreates: Bool = false, now: Date
    ) async throws {
        let app = run.address.app
        // If this run could not resolve a doubt, a later run checks the doubt again. A dry run checked no doubts, so it
        // postpones none.
        let examined = report.applied || report.alarm != nil
        try await database.forLongWork.transaction { connection in
            let standing = try await Self.hold(run, on: connection)
            try await connection.pipeline(
                (recreates ? Self.hasten(app, now: now) : []) + [
                    """
                    update channels set examine_at = \(now.addingTimeInterval(Self.doubtRest))
                    where \(AppColumns.isOf(app)) and examine_at <= \(now) and doubted_at <= \(run.startedAt)
                        and \(examined)
                    """,
                    """
                    insert into reconciliations (id, bundle_id, environment, started_at, finished_at, report)
                    values (\(report.id)::text::uuid, \(report.bundleId), \(report.environment.rawValue)::environment,
                        \(report.startedAt), \(report.finishedAt), \(PostgresJSON(bytes: JSONWriter.text(report))))
                    """,
                    """
                    delete from reconciliations r where \(AppColumns.isOf(app, row: "r")) and r.started_at < (
                            select started_at from reconciliations
                            where \(AppColumns.isOf(app))
                            order by started_at desc offset \(Self.keptReports - 1) limit 1)
                    """,
                    Self.release(
                        run, now: now, again: again, failures: 0,
                        alarm: "\(report.alarm?.rawValue)::text::reconciliation_alarm"),
                ] + Self.messages(report, standing: standing, now: now))
        }
    }

    /// The statements that tell webhooks of a run, if it found something new.
    ///
    /// - Parameter standing: the alarm before this run.
    private static func messages(
        _ report: Contract.Reconciliation, standing: Contract.ReconciliationAlarm?, now: Date
    ) -> [PostgresQuery] {
        var messages: [PostgresQuery] = []
        if let found = Contract.ReconciliationFound(report, standing: standing) {
            messages.append(
                WebhookNews.message(.reconciliationFound, about: report.bundleId, at: report.finishedAt, found))
        }
        if report.alarm == .capabilityOff, standing != .capabilityOff {
            let off = Contract.CapabilityOff(
                bundleId: report.bundleId, environment: report.environment,
                evidence: "Apple's list has none of the channels that are known here")
            messages.append(WebhookNews.message(.capabilityOff, about: report.bundleId, at: now, off))
        }
        return messages
    }

    /// Ends the lease of a failed run. The run is due again at `again`.
    func fail(_ run: ReconciliationRun, again: Date, now: Date) async throws {
        try await database.query(Self.release(run, now: now, again: again, failures: run.failures + 1))
    }

    private static func release(
        _ run: ReconciliationRun, now: Date, again: Date?, failures: Int, alarm: PostgresQuery = "alarm"
    ) -> PostgresQuery {
        """
        update app_environments set reconciled_at = \(now), reconcile_at = \(again), reconcile_failures = \(failures),
            alarm = \(alarm), reconciling_by = null, reconciling_until = null
        where reconciling_by = \(run.id)
        """
    }

    /// The error if another replica has the run's lease. The step changed nothing.
    private static let lost = Problem(
        .reconciliationRunning, "Another server took this reconciliation over. GET the list for its report.",
        retryAfter: 5)

    /// Locks the app's row in `app_environments` until the commit, if the run still has its lease. This row lock also
    /// protects the app's quota.
    ///
    /// - Returns: the alarm that is set.
    /// - Throws: `lost`.
    @discardableResult
    static func hold(
        _ run: ReconciliationRun, on connection: PostgresConnection
    ) async throws -> Contract.ReconciliationAlarm? {
        let rows = try await connection.query(
            """
            select alarm from app_environments where \(AppColumns.isOf(run.address.app)) and reconciling_by = \(run.id)
            for update
            """)
        guard let row = rows.first else { throw lost }
        return try row.optionalWord("alarm")
    }

    /// - Throws: `app-not-found`, `reconciliation-not-found`.
    func report(_ id: UUID, of app: AppEnvironment, among apps: AppStore) async throws -> Contract.Reconciliation {
        let rows = try await database.query(
            """
            select r.report from reconciliations r join apps a using (bundle_id)
            where r.id = \(id) and \(AppColumns.isNamed(app, row: "r"))
            """)
        if let row = rows.first { return try Self.report(row) }
        _ = try await apps.registered(app.bundleID)
        throw Problem(
            .reconciliationNotFound,
            "\(app.bundleID) has no reconciliation \(id.words) in \(app.environment.rawValue). The last "
                + "\(Self.keptReports) are kept.")
    }

    /// Reports, the newest first. A long report has the member `abridged` in place of its lists.
    func reports(of app: AppEnvironment, _ page: PageRequest) async throws -> Contract.Page<Contract.Reconciliation> {
        try await database.page(
            page, by: "started_at", newestFirst: true,
            of: """
                select r.id, r.started_at, case when length(r.report::text) <= \(Self.longestInList) then r.report
                    else (r.report::jsonb - array['missing', 'unmanaged', 'actions'] || '{"abridged": true}')::json end
                    as report
                from reconciliations r join apps a using (bundle_id) where \(AppColumns.isNamed(app, row: "r"))
                """, as: { try $0.map(Self.report) })
    }

    private static func report(_ row: PostgresRow) throws -> Contract.Reconciliation {
        try JSONValue(parsing: try row.decode(PostgresJSON.self, "report").bytes, maximumValues: .max).decode()
    }
}

/// The lease on one app and environment for a run.
struct ReconciliationRun: Sendable {
    var id: UUID
    var address: APNsAddress
    var startedAt: Date
    /// The number of failed runs since the last successful one.
    var failures: Int
}
