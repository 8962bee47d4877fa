internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import JSON
internal import Postgres

/// Reconciliations: leases in `app_environments`, first sights in `unmanaged_channels`, reports in `reconciliations`.
package struct PostgresReconciliationStore: ReconciliationStore {
    let database: Database

    package init(_ database: Database) { self.database = database }

    /// The number of reports that are kept for each app and environment.
    private static let keptReports = 50

    /// The maximum length of a report in a list, in characters; longer reports are abridged.
    private static let longestInList = 20_000

    /// Whether the app of `ae` has unanswered creations whose outcome Apple's list shows by now. Few creations are
    /// unanswered, so PostgreSQL should use the index of these. `bundle_id || ''` prevents the use of the index of apps.
    private static func hasSettleable(at now: Date) -> PostgresQuery {
        """
        exists (select from channels c where c.bundle_id || '' = ae.bundle_id and c.environment = ae.environment
            and c.called_at is not null and c.next_attempt_at <= \(now)
            and (c.leased_until is null or c.leased_until <= \(now)))
        """
    }

    /// Whether the app of `ae` has channels in doubt that must be checked now. A run checks all of them, so one run
    /// every two seconds is enough, however many messages are refused.
    private static func hasDoubts(at now: Date) -> PostgresQuery {
        """
        (ae.reconciled_at <= \(now.addingTimeInterval(-doubtInterval)) and exists (
            select from channels c where c.bundle_id = ae.bundle_id and c.environment = ae.environment
                and c.examine_at <= \(now)))
        """
    }

    /// `doubtInterval`: the shortest time from a run to the next run that is only for doubts, in seconds. `doubtRest`:
    /// seconds until a doubt that a run could not resolve is checked again.
    private static let doubtInterval: TimeInterval = 2
    private static let doubtRest: TimeInterval = 30

    package func claimDue(
        interval: TimeInterval, now: Date, leasedUntil: Date
    ) async throws -> ReconciliationRun? {
        try await lease(
            where: """
                (ae.reconcile_at <= \(now)
                    or ae.reconcile_at is null and (\(Self.hasSettleable(at: now)) or \(Self.hasDoubts(at: now)))
                    or \(interval)::float8 > 0 and ae.deleting_since is null
                        and ae.reconciled_at + make_interval(secs => \(interval)) <= \(now))
                """, now: now, leasedUntil: leasedUntil)
    }

    package func request(_ app: AppEnvironment, now: Date) async throws {
        try await database.query(
            """
            update app_environments ae set reconcile_at = least(ae.reconcile_at, \(now))
            from apps a where a.bundle_id = ae.bundle_id and a.topic = \(app.bundleID.topic)
                and ae.environment = \(app.environment.rawValue)::environment
                and (ae.apple_listed_at is null or ae.apple_listed_at < \(now.addingTimeInterval(-60)))
            """)
    }

    package func begin(
        _ app: AppEnvironment, now: Date, leasedUntil: Date
    ) async throws -> ReconciliationRun {
        let run = try await lease(
            where: """
                ae.environment = \(app.environment.rawValue)::environment and ae.deleting_since is null
                    and ae.bundle_id = (select bundle_id from apps where topic = \(app.bundleID.topic))
                """, now: now, leasedUntil: leasedUntil)
        if let run { return run }
        let known = try await database.query("select from apps where topic = \(app.bundleID.topic)")
        guard !known.isEmpty else { throw Problem(.appNotFound, "There is no app \(app.bundleID).") }
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
            select ae.reconciling_by, ae.reconcile_failures::bigint as failures, \(PostgresChannelStore.addressColumns)
            from leased ae \(PostgresChannelStore.addressJoins)
            """
        ).first.map { row in
            ReconciliationRun(
                id: try row.decode("reconciling_by"), address: try PostgresChannelStore.address(row), startedAt: now,
                failures: try row.decode("failures"))
        }
    }

    package func nextDue(interval: TimeInterval, now: Date) async throws -> Date? {
        // For `bundle_id || ''` see `hasSettleable`.
        try await database.query(
            """
            select min(greatest(ae.reconciling_until, least(
                ae.reconcile_at,
                case when \(interval)::float8 > 0 then ae.reconciled_at + make_interval(secs => \(interval)) end,
                case when ae.reconcile_at is null then (
                    select min(greatest(c.next_attempt_at, c.leased_until)) from channels c
                    where c.bundle_id || '' = ae.bundle_id and c.environment = ae.environment
                        and c.called_at is not null)
                end,
                case when ae.reconcile_at is null then (
                    select greatest(min(c.examine_at), ae.reconciled_at + make_interval(secs => \(Self.doubtInterval)))
                    from channels c where c.bundle_id = ae.bundle_id and c.environment = ae.environment
                        and c.examine_at is not null having count(*) > 0)
                end))) as at
            from app_environments ae
            """
        ).first?.decode(Date?.self, "at")
    }

    package func extend(_ run: ReconciliationRun, until: Date) async throws {
        let rows = try await database.query(
            """
            update app_environments set reconciling_until = \(until) where reconciling_by = \(run.id)
                and \(AppColumns.isOf(run.address.app))
            returning bundle_id
            """)
        if rows.isEmpty { throw ReconciliationLost() }
    }

    package func finish(
        _ run: ReconciliationRun, _ report: ReconciliationReport, again: Date?, now: Date
    ) async throws {
        // If this run could not resolve a doubt, a later run checks the doubt again. A dry run checked no doubts, so it
        // postpones none.
        let rest: [PostgresQuery] =
            report.applied || report.alarm != nil
            ? [
                """
                update channels set examine_at = \(now.addingTimeInterval(Self.doubtRest))
                where \(AppColumns.isOf(report.app))
                    and examine_at <= \(now) and doubted_at <= \(run.startedAt)
                """
            ] : []
        try await database.transaction { connection in
            try await Self.hold(run, on: connection)
            try await connection.pipeline(
                rest + [
                    """
                    insert into reconciliations (id, bundle_id, environment, started_at, finished_at, report)
                    values (\(report.id), \(report.bundleID.rawValue), \(report.environment.rawValue)::environment,
                        \(report.startedAt), \(report.finishedAt), \(PostgresJSON(bytes: JSONWriter.text(Contract.Reconciliation(report)))))
                    """,
                    """
                    delete from reconciliations r where \(AppColumns.isOf(report.app, row: "r")) and r.started_at < (
                            select started_at from reconciliations
                            where \(AppColumns.isOf(report.app))
                            order by started_at desc offset \(Self.keptReports - 1) limit 1)
                    """,
                    Self.release(run, now: now, again: again, failures: 0),
                    """
                    update app_environments set alarm = \(report.alarm?.rawValue)::text::reconciliation_alarm
                    where \(AppColumns.isOf(report.app))
                    """,
                ])
        }
    }

    package func fail(_ run: ReconciliationRun, again: Date, now: Date) async throws {
        try await database.query(Self.release(run, now: now, again: again, failures: run.failures + 1))
    }

    private static func release(
        _ run: ReconciliationRun, now: Date, again: Date?, failures: Int
    ) -> PostgresQuery {
        """
        update app_environments set reconciled_at = \(now), reconcile_at = \(again), reconcile_failures = \(failures),
            reconciling_by = null, reconciling_until = null
        where reconciling_by = \(run.id)
        """
    }

    /// Locks the app's row in `app_environments` until the commit, if the run still has its lease. This row lock also
    /// protects the app's quota.
    ///
    /// - Throws: `ReconciliationLost`.
    static func hold(_ run: ReconciliationRun, on connection: PostgresConnection) async throws {
        let rows = try await connection.query(
            """
            select from app_environments where \(AppColumns.isOf(run.address.app)) and reconciling_by = \(run.id)
            for update
            """)
        if rows.isEmpty { throw ReconciliationLost() }
    }

    package func report(_ id: UUID, of app: AppEnvironment) async throws -> [UInt8]? {
        try await database.query(
            """
            select r.report from reconciliations r join apps a using (bundle_id)
            where r.id = \(id) and a.topic = \(app.bundleID.topic)
                and r.environment = \(app.environment.rawValue)::environment
            """
        ).first?.decode(PostgresJSON.self, "report").bytes
    }

    package func reports(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<[UInt8]> {
        let part = try TimePage(page, by: "r.started_at", "r.id", newestFirst: true)
        let rows = try await database.query(
            """
            select r.id, r.started_at, case when length(r.report::text) <= \(Self.longestInList) then r.report
                else (r.report::jsonb - array['missing', 'unmanaged', 'actions'] || '{"abridged": true}')::json end
                as report
            from reconciliations r join apps a using (bundle_id)
            where a.topic = \(app.bundleID.topic) and r.environment = \(app.environment.rawValue)::environment
                and \(part.condition)
            \(part.order)
            """
        ).map { row in
            (
                at: try row.decode(Date.self, "started_at"), id: try row.decode(UUID.self, "id"),
                report: try row.decode(PostgresJSON.self, "report").bytes
            )
        }
        let reports = part.page(rows) { ($0.at, $0.id) }
        return Page(items: reports.items.map(\.report), nextCursor: reports.nextCursor)
    }
}
