internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Deletes an app: one transaction closes the app, and later steps remove its rows. Each step finds the remaining rows
/// by itself, so after a crash another process continues.
extension AppStore {
    /// The approximate maximum number of rows that one step removes. The number is limited, so that no other
    /// transaction waits long for the step.
    private static let step = 5_000
    /// The average number of rows of an installation, including the rows of its topics and tokens.
    private static let rowsOfInstallation = 5

    /// Deletes the app. From now on nobody can use it. If it has little history, it is removed at once. Otherwise
    /// `AppRemover` removes the history bit by bit, and until then the app has `deletingSince`.
    ///
    /// - Throws: `app-not-found`; `app-in-use` while channels remain.
    package func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws {
        let registered = try await database.transaction { connection in
            try await Self.close(bundleID, by: actor, now: now, on: connection)
        }
        _ = try await removeStep(of: registered)
    }

    /// Removes some more rows of an app that was deleted.
    ///
    /// - Returns: whether rows of a deleted app may be left.
    func removeDeleted() async throws -> Bool { try await removeStep(of: nil) }

    // MARK: Closing

    /// - Returns: the bundle ID as it was registered.
    private static func close(
        _ bundleID: BundleID, by actor: AuditActor, now: Date, on connection: PostgresConnection
    ) async throws -> String {
        let app = try await connection.query("select bundle_id from apps where topic = \(bundleID.topic) for update")
        guard let registered: String = try app.first?.decode("bundle_id") else {
            throw Problem(.appNotFound, "There is no app \(bundleID).")
        }
        // A transaction that reserves a channel also locks these rows. So no channel can appear between the count and
        // the commit. Transactions that wait for these rows see after the commit that the app is closed.
        let environments = try await connection.query(
            "select deleting_since from app_environments where bundle_id = \(registered) order by environment for update"
        )
        if try environments.contains(where: { try $0.decode(Date?.self, "deleting_since") != nil }) {
            return registered
        }
        let rows = try await connection.query(
            """
            select count(*) as n from channels
            where bundle_id = \(registered) and state in \(Channel.State.sql(.isReconciled))
            """)
        let remaining: Int = try rows.first?.decode("n") ?? 0
        guard remaining == 0 else {
            throw Problem(
                .appInUse, "\(remaining) channels of \(registered) remain. Delete them first.",
                members: [.channels(remaining)])
        }
        // Keys and webhooks of only this app are deleted. Keys and webhooks of several apps stay for the other apps.
        try await connection.pipeline([
            "delete from api_keys where apps = array[\(registered)]",
            "update api_keys set apps = array_remove(apps, \(registered)) where \(registered) = any(apps)",
            "delete from webhooks where apps = array[\(registered)]",
            """
            update webhooks set apps = array_remove(apps, \(registered)), version = nextval('resource_versions')
            where \(registered) = any(apps)
            """,
            "update app_environments set deleting_since = \(now), reconcile_at = null where bundle_id = \(registered)",
            AuditRows(by: actor, at: now).insert(
                .appDeleted, .init(bundleID: BundleID(rawValue: registered) ?? bundleID)),
        ])
        try await endOpenLanes(of: registered, now: now, on: connection)
        return registered
    }

    /// Makes events that are not over send nothing more to the app, and not wait for the app's channels.
    private static func endOpenLanes(of app: String, now: Date, on connection: PostgresConnection) async throws {
        let lanes: [Int] = try await connection.query(
            """
            select id from lanes where id = any(array(
                select u.lane from (select * from audiences where bundle_id = \(app) offset 0) u
                cross join lateral (select ended_at, cancelled_at from events where key = u.event_key offset 0) e
                where e.ended_at is null and e.cancelled_at is null
                union
                select f.lane from fan_outs f cross join lateral (
                    select ended_at, cancelled_at from events where key = f.event_key offset 0) e
                where f.policy = 'update' and e.ended_at is null and e.cancelled_at is null
                    and f.app = any(array(select id from app_environments where bundle_id = \(app)))))
            order by id for update
            """
        ).map { try $0.decode("id") }
        guard !lanes.isEmpty else { return }
        try await connection.pipeline([
            """
            update lanes set fenced_at = coalesce(fenced_at, \(now)), due_at = null, shard_due_at = null
            where id = any(\(lanes))
            """,
            "delete from deliveries where lane = any(\(lanes)) and settled_at is null",
        ])
    }

    // MARK: Removing

    /// - Parameter app: `nil`: any deleted app that no other replica is removing.
    /// - Returns: whether more rows of deleted apps may be left.
    private func removeStep(of app: String?) async throws -> Bool {
        try await database.transaction { connection in
            // Registrations of installations lock the app's row while they write. So when this transaction has locked
            // the row, the transaction sees everything that the registrations wrote.
            let rows = try await connection.query(
                """
                select bundle_id from apps a where (\(app)::text is null or bundle_id = \(app)) and exists (
                    select from app_environments where bundle_id = a.bundle_id and deleting_since is not null)
                order by bundle_id limit 1 for update skip locked
                """)
            guard let name: String = try rows.first?.decode("bundle_id") else { return false }
            let ids: [Int] = try await connection.query(
                "select id from app_environments where bundle_id = \(name)"
            ).map { try $0.decode("id") }
            // Make the planner find rows by an index and in the order of that index. With old statistics, the planner
            // would read the whole table.
            try await connection.query(
                """
                select set_config('grandstand.forgets_history', 'on', true), set_config('enable_seqscan', 'off', true),
                    set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)
                """)
            var room = Self.step
            for part in Self.parts(of: name, ids.map(Int32.init)) {
                while room > 0 {
                    let removed = try await part(connection, room)
                    guard removed > 0 else { break }
                    room -= removed
                }
                guard room > 0 else { return true }
            }
            // An event that was declared while the app was closed may have got a channel. This channel must first be
            // deleted at Apple.
            let channels = try await connection.query("select from channels where bundle_id = \(name) limit 1")
            guard channels.isEmpty else { return false }
            try await connection.pipeline([
                "delete from device_accounts where app = any(\(ids.map(Int32.init)))",
                "delete from apps where bundle_id = \(name)",
            ])
            return true
        }
    }

    /// Removes at most `limit` rows of a part of an app.
    ///
    /// - Returns: the number of removed rows; 0: no row is left.
    private typealias Part = (_ connection: PostgresConnection, _ limit: Int) async throws -> Int

    /// The parts in the order in which they are removed: rows are removed before the rows that they refer to.
    private static func parts(of app: String, _ ids: [Int32]) -> [Part] {
        [
            { try await audiences(of: app, ids, $1, on: $0) },
            { try await runs(of: ids, $1, on: $0) },
            { try await installations(of: ids, $1, on: $0) },
            { try await channels(of: app, $1, on: $0) },
            { try await lanes(of: app, $1, on: $0) },
            { try await $0.query(some("reconciliations", of: app, $1)).affectedRows },
            { try await $0.query(some("quota_samples", of: app, $1)).affectedRows },
            { try await $0.query(some("unmanaged_channels", of: app, $1)).affectedRows },
        ]
    }

    private static func some(_ table: PostgresQuery, of app: String, _ limit: Int) -> PostgresQuery {
        """
        delete from \(table) where ctid = any(array(
            select ctid from \(table) where bundle_id = \(app) order by bundle_id, environment limit \(limit)))
        """
    }

    /// Removes audiences, and the deliveries on their lanes and on the lanes of their events' crowds. The events stay,
    /// for other apps and for their organisers.
    private static func audiences(
        of app: String, _ ids: [Int32], _ limit: Int, on connection: PostgresConnection
    ) async throws -> Int {
        let rows = try await connection.query(
            """
            select event_key, lane from audiences where bundle_id = \(app)
            order by bundle_id, environment, event_key limit 50
            """)
        guard !rows.isEmpty else { return 0 }
        let keys: [String] = try rows.map { try $0.decode("event_key") }
        let crowds: [Int] = try await connection.query(
            "select lane from fan_outs where event_key = any(\(keys)) and app = any(\(ids)) and policy = 'update'"
        ).map { try $0.decode("lane") }
        let lanes: [Int] = try rows.map { try $0.decode("lane") }
        let sent = try await connection.query(
            """
            delete from deliveries where id = any(array(
                select d.id from (select id from broadcasts where event_key = any(\(keys)) offset 0) b
                cross join lateral (select id, lane from deliveries where broadcast_id = b.id offset 0) d
                where d.lane = any(\(lanes + crowds)) limit \(limit)))
            """
        ).affectedRows
        guard sent < limit else { return sent }
        let removed = try await connection.query(
            """
            delete from audiences where lane = any(\(lanes))
            """
        ).affectedRows
        try await connection.pipeline(removal(of: lanes))
        return sent + removed
    }

    /// Removes lanes and the unsettled messages on them. The lane of a channel stays as long as the channel stays.
    private static func removal(of lanes: [Int]) -> [PostgresQuery] {
        [
            "delete from deliveries where lane = any(\(lanes)) and settled_at is null",
            "delete from lanes where id = any(\(lanes)) and channel is null",
        ]
    }

    /// Removes some rows: first, step by step, the many rows that belong to them, then the rows themselves with what is
    /// left of theirs.
    ///
    /// - Parameters:
    ///   - found: a statement that finds some of the rows, with their `id`.
    ///   - first: statements that remove at most `limit` rows each.
    private static func remove<ID: PostgresDecodable>(
        _ found: PostgresQuery, first: ([ID]) -> [PostgresQuery] = { _ in [] }, then last: ([ID]) -> [PostgresQuery],
        _ limit: Int, on connection: PostgresConnection
    ) async throws -> Int {
        let ids: [ID] = try await connection.query(found).map { try $0.decode("id") }
        guard !ids.isEmpty else { return 0 }
        var removed = 0
        for part in first(ids) {
            removed += try await connection.query(part).affectedRows
            guard removed < limit else { return removed }
        }
        return try await connection.pipeline(last(ids)).reduce(removed) { $0 + $1.affectedRows }
    }

    /// Removes the runs of starts and of crowds, with their rows in `starts` and `fan_out_queue`.
    private static func runs(of ids: [Int32], _ limit: Int, on connection: PostgresConnection) async throws -> Int {
        try await remove(
            "select id from fan_outs where app = any(\(ids)) limit 100",
            first: { (runs: [Int]) in
                [
                    """
                    delete from starts where (run, installation) in (
                        select s.run, s.installation from unnest(\(runs)) r(id) cross join lateral (
                            select run, installation from starts where run = r.id limit \(limit)) s limit \(limit))
                    """,
                    """
                    delete from fan_out_queue where (member, run) in (
                        select q.member, q.run from unnest(\(runs)) r(id) cross join lateral (
                            (select member, run from fan_out_queue where run = r.id and delivery is null
                                limit \(limit))
                            union all
                            (select member, run from fan_out_queue where run = r.id and delivery is not null
                                limit \(limit))) q
                        limit \(limit))
                    """,
                ]
            }, then: { ["delete from fan_outs where id = any(\($0))"] }, limit, on: connection)
    }

    private static func installations(
        of ids: [Int32], _ limit: Int, on connection: PostgresConnection
    ) async throws -> Int {
        try await remove(
            """
            select id from installations where app = any(\(ids)) order by app, installation
            limit \(max(1, limit / rowsOfInstallation))
            """,
            then: { (rows: [Int]) in
                [
                    "delete from follows where installation = any(\(rows))",
                    "delete from start_tokens where installation = any(\(rows))",
                    "delete from activities where installation = any(\(rows))",
                    "delete from installations where id = any(\(rows))",
                ]
            }, limit, on: connection)
    }

    /// Removes channels that were deleted, and the messages that were sent to these channels without an event.
    private static func channels(of app: String, _ limit: Int, on connection: PostgresConnection) async throws -> Int {
        try await remove(
            """
            select id from channels where bundle_id = \(app) and state not in \(Channel.State.sql(.isReconciled))
            order by bundle_id, environment, created_at, id limit 200
            """,
            first: { (channels: [UUID]) in
                [
                    """
                    delete from broadcasts where id = any(array(
                        select id from broadcasts where channel = any(\(channels)) limit \(limit)))
                    """
                ]
            }, then: { ["delete from channels where id = any(\($0))"] }, limit, on: connection)
    }

    /// Removes the remaining lanes: the lanes of channels without an event, and the lanes of audiences that were
    /// removed earlier.
    private static func lanes(of app: String, _ limit: Int, on connection: PostgresConnection) async throws -> Int {
        try await remove(
            "select id from lanes where bundle_id = \(app) and id > 0 order by bundle_id, id limit \(limit)",
            then: { (lanes: [Int]) in removal(of: lanes) }, limit, on: connection)
    }
}
