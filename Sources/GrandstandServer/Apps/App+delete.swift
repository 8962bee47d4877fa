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

    /// Deletes the app. From now on nobody can use it. If it has little history, it is removed at once. Otherwise
    /// a loop removes the history bit by bit, and until then the app has `deletingSince`.
    ///
    /// - Throws: `app-not-found`; `app-in-use` while channels remain.
    package func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws {
        let registered = try await database.transaction { connection in
            try await Self.close(bundleID, by: actor, now: now, on: connection)
        }
        _ = try await removeDeleted(registered)
    }

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
            throw Problem(.appInUse, "\(remaining) channels of \(registered) remain. Delete them first.") {
                $0.channels = remaining
            }
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
            select lane from audiences where lane = any(array(
                select u.lane from (select * from audiences where bundle_id = \(app) offset 0) u
                cross join lateral (select ended_at, cancelled_at from events where key = u.event_key offset 0) e
                where e.ended_at is null and e.cancelled_at is null))
            order by lane for update
            """
        ).map { try $0.decode("lane") }
        guard !lanes.isEmpty else { return }
        try await connection.pipeline([
            """
            update audiences set fenced_at = coalesce(fenced_at, \(now)), due_at = null, tokens_due_at = null
            where lane = any(\(lanes))
            """,
            "delete from deliveries where lane = any(\(lanes)) and settled_at is null",
        ])
    }

    // MARK: Removing

    /// Removes some more rows of an app that was deleted.
    ///
    /// - Parameter app: `nil`: any deleted app that no other replica is removing.
    /// - Returns: whether more rows of deleted apps may be left.
    func removeDeleted(_ app: String? = nil) async throws -> Bool {
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
            let app = RetentionRule.App(name: name, ids: ids.map(Int32.init))
            var room = Self.step
            for remove in PostgresHistory(database).rules().compactMap(\.ofApp) {
                while room > 0 {
                    let removed = try await remove(connection, app, room)
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
                "delete from device_accounts where app = any(\(app.ids))",
                "delete from apps where bundle_id = \(name)",
            ])
            return true
        }
    }
}
