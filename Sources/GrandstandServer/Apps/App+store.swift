internal import APNsWire
internal import FoundationEssentials
package import Grandstand
internal import Postgres

/// Apps in the tables `apps` and `app_environments`.
package struct PostgresAppStore: AppStore {
    let database: Database

    package init(_ database: Database) { self.database = database }

    package func put(
        _ app: App, by actor: AuditActor, if condition: WriteCondition
    ) async throws -> (app: App, created: Bool) {
        do {
            return try await write(app, by: actor, if: condition)
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            // If two callers register the same app at once, the second caller changes the app, if the condition of its
            // request allows the change.
            guard let registered = try await self.app(app.bundleID)?.bundleID, registered != app.bundleID else {
                return try await write(app, by: actor, if: condition)
            }
            throw Self.differentSpelling(of: registered)
        }
    }

    private func write(
        _ app: App, by actor: AuditActor, if condition: WriteCondition
    ) async throws -> (app: App, created: Bool) {
        let created = try await database.transaction { connection in
            try await Self.refuseDeleted(app.bundleID, on: connection)
            if condition != .none {
                try await Self.check(condition, app.bundleID, on: connection)
            }
            let rows = try await connection.query(
                """
                insert into apps as a
                    (bundle_id, name, team_id, key_id, channel_limit, preview_compact, preview_expanded, created_at,
                        updated_at)
                values (\(app.bundleID.rawValue), \(app.name), \(app.credentials.teamID), \(app.credentials.keyID),
                    \(app.channelLimit), \(app.preview?.compact), \(app.preview?.expanded),
                    \(app.updatedAt), \(app.updatedAt))
                on conflict (bundle_id) do update set name = excluded.name, team_id = excluded.team_id,
                    key_id = excluded.key_id, channel_limit = excluded.channel_limit,
                    preview_compact = excluded.preview_compact, preview_expanded = excluded.preview_expanded,
                    updated_at = excluded.updated_at, version = excluded.version
                returning xmax = 0 as created
                """)
            for environment in APNsEnvironment.allCases {
                let override = app.overrides[environment]
                try await connection.query(
                    """
                    insert into app_environments (bundle_id, environment, team_id, key_id, reconciled_at)
                    values (\(app.bundleID.rawValue), \(environment.rawValue)::environment,
                        \(override?.teamID), \(override?.keyID), \(app.updatedAt))
                    on conflict (bundle_id, environment) do update
                        set team_id = excluded.team_id, key_id = excluded.key_id
                    """)
            }
            let created = try rows.first?.decode(Bool.self, "created") ?? false
            // Another writer created the app after the check.
            if condition == .absent, !created { try condition.check(0) }
            try await connection.query(
                AuditRows(by: actor, at: app.updatedAt).insert(
                    created ? .appRegistered : .appChanged, .init(bundleID: app.bundleID)))
            return created
        }
        return (try await self.app(app.bundleID) ?? app, created)
    }

    private static func refuseDeleted(_ bundleID: BundleID, on connection: PostgresConnection) async throws {
        let rows = try await connection.query(
            "select from app_environments where bundle_id = \(bundleID.rawValue) and deleting_since is not null limit 1"
        )
        guard rows.isEmpty else {
            throw Problem(
                .appExists,
                "The app \(bundleID) was deleted, and what is left of its history is being removed. Register it anew when GET "
                    + "/v1/apps does not show it any more.", retryAfter: 60)
        }
    }

    private static func check(
        _ condition: WriteCondition, _ bundleID: BundleID, on connection: PostgresConnection
    ) async throws {
        let row = try await connection.query(
            "select bundle_id, version from apps where topic = \(bundleID.topic) for update"
        ).first
        if let registered: BundleID = try row?.word("bundle_id"), registered != bundleID {
            throw differentSpelling(of: registered)
        }
        try condition.check(try row?.decode("version"))
    }

    private static func differentSpelling(of registered: BundleID) -> Problem {
        Problem(
            .appExists,
            "The app is registered as \(registered). Apple treats bundle IDs that differ only in capitals as one topic. "
                + "Use the registered spelling.")
    }

    package func app(_ bundleID: BundleID) async throws -> App? {
        let rows = try await database.query("\(Self.selection) where a.topic = \(bundleID.topic)")
        return try rows.first.map(Self.app)
    }

    package func apps(_ page: PageRequest, within reach: AppReach) async throws -> Page<App> {
        let rows = try await database.query(
            """
            \(Self.selection) where (\(page.cursor)::text is null or a.bundle_id > \(page.cursor))
                and (\(reach.topics)::text[] is null or a.topic = any(\(reach.topics)))
            order by a.bundle_id limit \(page.limit + 1)
            """)
        return Page(rows: try rows.map(Self.app), limit: page.limit) { $0.bundleID.rawValue }
    }

    private static let selection: PostgresQuery = """
        select a.bundle_id, a.name, a.team_id, a.key_id, a.channel_limit, a.created_at, a.updated_at, a.version, d.deleting_since,
            a.preview_compact, a.preview_expanded,
            d.team_id as development_team_id, d.key_id as development_key_id,
            d.quirks as development_quirks, d.key_refused as development_key_refused,
            d.key_refused_reason as development_key_refused_reason,
            d.key_refused_since as development_key_refused_since,
            p.team_id as production_team_id, p.key_id as production_key_id,
            p.quirks as production_quirks, p.key_refused as production_key_refused,
            p.key_refused_reason as production_key_refused_reason,
            p.key_refused_since as production_key_refused_since
        from apps a
        join app_environments d on d.bundle_id = a.bundle_id and d.environment = 'development'
        join app_environments p on p.bundle_id = a.bundle_id and p.environment = 'production'
        """

    private static func app(_ row: PostgresRow) throws -> App {
        var overrides: [APNsEnvironment: App.Override] = [:]
        for environment in APNsEnvironment.allCases {
            let override = App.Override(
                teamID: try row.decode("\(environment.rawValue)_team_id"),
                keyID: try row.decode("\(environment.rawValue)_key_id"))
            if override.teamID != nil || override.keyID != nil { overrides[environment] = override }
        }
        var app = App(
            bundleID: try row.word("bundle_id"), name: try row.decode("name"),
            credentials: Credentials(teamID: try row.decode("team_id"), keyID: try row.decode("key_id")),
            overrides: overrides, channelLimit: try row.decode("channel_limit"),
            createdAt: try row.decode("created_at"), updatedAt: try row.decode("updated_at"),
            version: try row.decode("version"), preview: try preview(row))
        app.deletingSince = try row.decode("deleting_since")
        for environment in APNsEnvironment.allCases.sorted() {
            app.quirks += try row.quirks(in: environment)
            app.keyRefusals[environment] = try row.keyRefusal(
                of: app.credentials(in: environment), "\(environment.rawValue)_")
        }
        return app
    }

    /// A template that a newer version stored, and that this version cannot parse, is left out.
    private static func preview(_ row: PostgresRow) throws -> AppPreview? {
        let preview = AppPreview(
            compact: try row.decode("preview_compact"), expanded: try row.decode("preview_expanded"))
        return preview.isEmpty ? nil : preview
    }
}
