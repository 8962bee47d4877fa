internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Deletes an app: one transaction closes the app, and later steps remove its rows. Each step finds the remaining rows
/// by itself, so after a crash another process continues.
extension AppStore {
    /// Deletes the app. From now on nobody can use it. If it has little history, it is removed at once. Otherwise
    /// a loop removes the history bit by bit, and until then the app has `deletingSince`.
    ///
    /// - Throws: `app-not-found`; `app-in-use` while channels remain.
    package func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws {
        let app = try await database.transaction { connection in
            let rows = try await connection.query(
                "select bundle_id from apps where topic = \(bundleID.topic) for update")
            guard let app: BundleID = try rows.first?.word("bundle_id") else {
                throw Problem(.appNotFound, "There is no app \(bundleID).")
            }
            // A transaction that reserves a channel also locks these rows. So no channel can appear between the count
            // and the commit. Transactions that wait for these rows see after the commit that the app is closed.
            let environments = try await connection.query(
                """
                select deleting_since from app_environments where bundle_id = \(app.rawValue)
                order by environment for update
                """)
            if try environments.allSatisfy({ try $0.decode(Date?.self, "deleting_since") == nil }) {
                try await Self.closeApp(app, by: actor, now: now, on: connection)
            }
            return app.rawValue
        }
        _ = try await removeDeleted(app)
    }

    private static func closeApp(
        _ app: BundleID, by actor: AuditActor, now: Date, on connection: PostgresConnection
    ) async throws {
        let name = app.rawValue
        let remaining: Int = try await connection.query(
            """
            select count(*) as n from channels
            where bundle_id = \(name) and state in \(Channel.State.sql(.isReconciled))
            """)[0].decode("n")
        guard remaining == 0 else {
            throw Problem(.appInUse, "\(remaining) channels of \(app) remain. Delete them first.") {
                $0.channels = remaining
            }
        }
        // Events that are not over send nothing more to the app, and do not wait for its channels.
        let lanes: [Int] = try await connection.query(
            """
            select u.lane from audiences u join events e on e.key = u.event_key
            where u.bundle_id = \(name) and e.ended_at is null and e.cancelled_at is null
            order by u.lane for update of u
            """
        ).map { try $0.decode("lane") }
        // Keys and webhooks of only this app are deleted. Keys and webhooks of several apps stay for the other apps.
        try await connection.pipeline([
            """
            update audiences set due_at = null, tokens_due_at = null,
                fenced_at = coalesce(fenced_at, \(now)) where lane = any(\(lanes))
            """,
            "delete from deliveries where lane = any(\(lanes)) and settled_at is null",
            "delete from api_keys where apps = array[\(name)]",
            "update api_keys set apps = array_remove(apps, \(name)) where \(name) = any(apps)",
            "delete from webhooks where apps = array[\(name)]",
            """
            update webhooks set apps = array_remove(apps, \(name)),
                version = nextval('resource_versions') where \(name) = any(apps)
            """,
            "update app_environments set deleting_since = \(now), reconcile_at = null where bundle_id = \(name)",
            AuditRows(by: actor, at: now).insert(.appDeleted, .init(bundleID: app)),
        ])
    }

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
            let ids: [Int32] = try await connection.pipeline([
                Removal.settings, "select id from app_environments where bundle_id = \(name)",
            ])[1].map { try $0.decode("id") }
            var room = Removal.most
            for removal in Retention.removals(of: name, ids) {
                while case let removed = try await removal.step(on: connection), removed > 0 {
                    room -= removed
                    guard room > 0 else { return true }
                }
            }
            // An event that was declared while the app was closed may have got a channel. This channel must first be
            // deleted at Apple.
            let left = try await connection.query("select from channels where bundle_id = \(name) limit 1")
            guard left.isEmpty else { return false }
            try await connection.pipeline([
                "delete from device_accounts where app = any(\(ids))",
                "delete from apps where bundle_id = \(name)",
            ])
            return true
        }
    }
}
