internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// The content types of apps in the table `content_types`. Bundle IDs are spelled as they are registered.
struct ContentTypeStore: Sendable {
    let database: Database

    /// Declares a content type or replaces it.
    ///
    /// - Returns: the content type, with the live events whose newest content it would refuse, and whether it was
    ///   created.
    /// - Throws: `version-mismatch`.
    func put(
        _ type: ContentType, by actor: AuditActor, if condition: WriteCondition, now: Date
    ) async throws -> (type: Versioned<Contract.ContentType>, created: Bool) {
        let (app, name) = (type.bundleID, type.attributesType)
        let row = try await database.transaction { connection in
            try condition.check(try await Self.lock(name, of: app, on: connection))
            let row = try await connection.query(
                """
                insert into content_types (bundle_id, attributes_type, declaration, created_at, updated_at)
                values (\(app.rawValue), \(name), \(PostgresJSON(bytes: JSONWriter.text(type.declaration))), \(now), \(now))
                on conflict (bundle_id, attributes_type) do update set declaration = excluded.declaration,
                    updated_at = excluded.updated_at, version = excluded.version
                returning \(Self.columns), xmax = 0 as created
                """)[0]
            let created: Bool = try row.decode("created")
            // Another writer created the content type after the check.
            if condition == .absent, !created { throw WriteCondition.existsProblem }
            try await connection.query(
                AuditRows(by: actor, at: now).insert(
                    created ? .contentCreated : .contentChanged, .init(bundleID: app), reason: name))
            return row
        }
        var declared: Versioned<Contract.ContentType> = try row.read()
        declared.value.mismatches = try await mismatches(type)
        return (declared, try row.decode("created"))
    }

    /// Locks a content type.
    ///
    /// - Returns: its version; `nil`: there is none.
    private static func lock(
        _ name: String, of app: BundleID, on connection: PostgresConnection
    ) async throws -> Int? {
        try await connection.query("select version from content_types where \(isNamed(name, app)) for update").first?
            .decode("version")
    }

    private static func isNamed(_ name: String, _ app: BundleID) -> PostgresQuery {
        "bundle_id = \(app.rawValue) and attributes_type = \(name)"
    }

    /// Events `e` that are not over, with their audiences `u` that use a content type.
    private static func usages(of name: String, _ app: BundleID) -> PostgresQuery {
        """
        events e join audiences u on u.event_key = e.key and u.bundle_id = \(app.rawValue)
            and e.ended_at is null and e.cancelled_at is null
        join lateral (\(ContentRows.type(of: "u.bundle_id", named: "coalesce(u.content, e.content)"))) t
            on t.attributes_type = \(name)
        """
    }

    /// The first 100 live events whose newest content the type would refuse, or takes too long to check. An event has one
    /// newest content for each audience; at most 1,000 are checked.
    private func mismatches(_ type: ContentType) async throws -> [Contract.ContentMismatch] {
        let rows = try await database.query(
            """
            select u.event_key, u.bundle_id, u.environment, u.variant, b.id,
                \(BroadcastRows.contentState("b", for: "u.variant")) as content_state
            from \(Self.usages(of: type.attributesType, type.bundleID)) join broadcasts b on b.id = u.newest_broadcast
            where u.fenced_at is null
            order by u.event_key, u.position limit 1000
            """)
        var mismatches: [Contract.ContentMismatch] = []
        for row in rows where mismatches.count < 100 {
            guard let content = try row.decode(PostgresJSON?.self, "content_state")?.bytes else { continue }
            let errors = type.faults(of: content, at: "/contentState")
            guard !errors.isEmpty else { continue }
            mismatches.append(
                Contract.ContentMismatch(
                    eventKey: try row.decode("event_key"), environment: try row.word("environment"),
                    variant: try row.decode("variant"), broadcastId: try row.decode(UUID.self, "id").text,
                    errors: errors))
        }
        return mismatches
    }

    /// - Throws: `content-not-found`.
    func contentType(_ name: String, of bundleID: BundleID) async throws -> Versioned<Contract.ContentType> {
        let rows = try await database.query(
            "select \(Self.columns) from content_types where \(Self.isNamed(name, bundleID))")
        guard let row = rows.first else { throw Problem.noContentType(name, bundleID) }
        return try row.read()
    }

    /// The content types of an app, in the order of their names.
    func contentTypes(of bundleID: BundleID, _ page: PageRequest) async throws -> Contract.Page<Contract.ContentType> {
        let rows = try await database.query(
            """
            select \(Self.columns) from content_types
            where bundle_id = \(bundleID.rawValue)
                and (\(page.cursor)::text is null or attributes_type > \(page.cursor))
            order by attributes_type limit \(page.limit + 1)
            """)
        return Contract.Page(rows: try rows.read(), limit: page.limit, cursor: \.attributesType)
    }

    /// - Throws: `content-not-found`; `version-mismatch`; `content-in-use` if live events use it.
    func delete(
        _ name: String, of app: BundleID, by actor: AuditActor, if condition: WriteCondition, now: Date
    ) async throws {
        try await database.transaction { connection in
            let version = try await Self.lock(name, of: app, on: connection)
            try condition.check(version)
            guard version != nil else { throw Problem.noContentType(name, app) }
            try await Self.requireUnused(name, of: app, now: now, on: connection)
            try await connection.pipeline([
                "delete from content_types where \(Self.isNamed(name, app))",
                AuditRows(by: actor, at: now).insert(.contentDeleted, .init(bundleID: app), reason: name),
            ])
        }
    }

    /// Without the type, the live events that use it would lose their check and rings, or get those of another type.
    ///
    /// - Throws: `content-in-use`.
    private static func requireUnused(
        _ name: String, of app: BundleID, now: Date, on connection: PostgresConnection
    ) async throws {
        let rows = try await connection.query(
            "select e.key from \(usages(of: name, app)) where \(EventStore.state(now: now)) = 'live' limit 1")
        guard let key: String = try rows.first?.decode("key") else { return }
        throw Problem(
            .contentInUse,
            "The live event \(key) uses the content type \(name.quotedJSON). Name another type in its member content, or "
                + "delete this one when it is over.")
    }

    private static let columns: PostgresQuery = """
        bundle_id as "bundleId", attributes_type as "attributesType", declaration ->> 'check' as "check",
        declaration -> 'versions' as versions, declaration -> 'rules' as rules, created_at as "createdAt",
        updated_at as "updatedAt", null::json as mismatches, version
        """
}
