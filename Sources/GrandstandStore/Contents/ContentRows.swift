internal import Grandstand
internal import Postgres
internal import Synchronization

/// Statements that read the content types and the newest contents of lanes.
enum ContentRows {
    /// The content types of lanes. Only the lane of an audience is in it, not the lane of its crowd.
    struct Types: Sendable {
        var byLane: [Int: ContentType] = [:]
        /// The names of content types that lanes' audiences have but their apps do not have.
        var missing: [Int: String] = [:]
    }

    /// The content type of an audience: the one it names, else its event's, else the only one of its app.
    ///
    /// - Parameters:
    ///   - app: an expression for the bundle ID.
    ///   - named: an expression for the name; null: none.
    static func type(of app: PostgresQuery, named: PostgresQuery) -> PostgresQuery {
        """
        select t.* from content_types t where t.bundle_id = \(app) and t.attributes_type = coalesce(\(named),
            (select min(o.attributes_type) from content_types o where o.bundle_id = \(app) having count(*) = 1))
        """
    }

    /// The types of lanes, as `ContentTypeCache` reads them. A crowd has the type of its audience's own lane.
    ///
    /// - Parameter lanes: an expression of `bigint[]`.
    static func ofLanes(_ lanes: PostgresQuery) -> PostgresQuery {
        """
        select l.id as lane, coalesce(u.content, e.content) as named, t.version
        from lanes l
        left join lateral (select event_key, content from audiences where lane = l.id offset 0) u on true
        left join lateral (select content from events where key = u.event_key offset 0) e on true
        left join lateral (\(type(of: "l.bundle_id", named: "coalesce(u.content, e.content)")) offset 0) t on true
        where l.id = any(\(lanes)) and l.kind in ('channel', 'token')
            and (t.version is not null or coalesce(u.content, e.content) is not null)
        """
    }

    /// The newest contents of lanes, as `Outgoing.contents` reads them.
    static func newest(_ lanes: PostgresQuery) -> PostgresQuery {
        """
        select id, \(BroadcastRows.content) from broadcasts
        where id = any(array(select newest_broadcast from lanes where id = any(\(lanes))))
        """
    }
}

/// A cache of content types by their versions, because reading one compiles its schemas. A version always has the same
/// type.
final class ContentTypeCache: Sendable {
    private let types = Mutex<[Int: ContentType]>([:])

    /// The most types that are kept. Beyond that all are forgotten.
    private static let capacity = 500

    /// - Parameter rows: of `ContentRows.ofLanes`.
    func types(_ rows: PostgresRows?, on connection: PostgresConnection) async throws -> ContentRows.Types {
        var found = ContentRows.Types()
        var versions: [Int: Int] = [:]
        for row in rows.map(Array.init) ?? [] {
            let lane: Int = try row.decode("lane")
            if let version: Int = try row.decode(Int?.self, "version") {
                versions[lane] = version
            } else {
                found.missing[lane] = try row.decode(String?.self, "named")
            }
        }
        guard !versions.isEmpty else { return found }
        let known = try await known(Set(versions.values), on: connection)
        found.byLane = versions.compactMapValues { known[$0] }
        return found
    }

    private func known(_ versions: Set<Int>, on connection: PostgresConnection) async throws -> [Int: ContentType] {
        var known = types.withLock { types in types.filter { versions.contains($0.key) } }
        let unread = versions.subtracting(known.keys).sorted()
        guard !unread.isEmpty else { return known }
        for row in try await connection.query(
            "select bundle_id, attributes_type, declaration, version from content_types where version = any(\(unread))")
        {
            known[try row.decode("version")] = try row.contentType()
        }
        types.withLock { types in
            if types.count + unread.count > Self.capacity { types = [:] }
            for version in unread { types[version] = known[version] }
        }
        return known
    }
}

extension PostgresRow {
    /// Reads a row of `content_types`.
    func contentType() throws -> ContentType {
        try ContentType(
            try word("bundle_id"), try decode("attributes_type"),
            parsing: try decode(PostgresJSON.self, "declaration").bytes)
    }
}
