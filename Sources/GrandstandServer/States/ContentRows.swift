internal import FoundationEssentials
internal import Grandstand
internal import Postgres
internal import Synchronization

/// Statements that read the content types and the newest contents of lanes.
enum ContentRows {
    /// The content type of an audience: the one it names, else its event's, else the oldest of its app. So another type
    /// of the app changes nothing for the audiences that it has.
    ///
    /// - Parameters:
    ///   - app: an expression for the bundle ID.
    ///   - named: an expression for the name; null: none.
    static func type(of app: PostgresQuery, named: PostgresQuery) -> PostgresQuery {
        """
        select t.* from content_types t where t.bundle_id = \(app) and t.attributes_type = coalesce(\(named),
            (select o.attributes_type from content_types o where o.bundle_id = \(app)
                order by o.created_at, o.attributes_type limit 1))
        """
    }

    /// For lanes of audiences and of channels without an event: the version of the content type, and the name that the
    /// audience or its event declares. `ContentTypeCache` reads the rows.
    ///
    /// - Parameter lanes: an expression of `bigint[]`.
    static func types(of lanes: PostgresQuery) -> PostgresQuery {
        """
        select u.lane, n.name, t.version
        from audiences u
        left join lateral (
            select coalesce(u.content, (select content from events where key = u.event_key)) as name offset 0) n on true
        left join lateral (\(type(of: "u.bundle_id", named: "n.name")) offset 0) t on true
        where u.lane = any(\(lanes)) and coalesce(n.name, t.attributes_type) is not null
        """
    }

    /// The newest contents of lanes, their last states, and the alerts that wait with the contents before them;
    /// `readNewest(_:)` reads the rows.
    static func newest(_ lanes: PostgresQuery) -> PostgresQuery {
        """
        select b.id, \(BroadcastRows.draft()), b.accepted_at, b.state_rule, array(
            select d.lane from deliveries d
            where d.broadcast_id = b.id and d.lane = any(\(lanes))
                and (d.tokens is null) = (select \(AudienceColumns.wantsChannel("u")) from audiences u where u.lane = d.lane)
                -- Without an attempt, the message was too long for tokens, and would be again.
                and (d.state = 'expired' or d.state = 'rejected' and d.attempts > 0)) as lost
        from broadcasts b where b.id = any(array(
            select unnest(array[newest_broadcast, state_broadcast]) from audiences where lane = any(\(lanes))
            union
            select unnest(array[d.broadcast_id, d.content_before]) from deliveries d
            where d.lane = any(\(lanes)) and d.settled_at is null and d.alerting))
        """
    }

    static func readNewest(_ rows: [PostgresRow]) throws -> [UUID: Acceptance.Basis] {
        var known: [UUID: Acceptance.Basis] = [:]
        for row in rows {
            known[try row.decode("id")] = Acceptance.Basis(
                draft: try row.draft(), acceptedAt: try row.decode("accepted_at"),
                ringRule: try row.decode("state_rule"), lost: Set(try row.decode([Int].self, "lost")))
        }
        return known
    }
}

/// A cache of content types by their versions, because reading one compiles its schemas. A version always has the same
/// type.
final class ContentTypeCache: Sendable {
    private let types = Mutex<[Int: ContentType]>([:])

    /// - Parameter rows: the rows that the statement `ContentRows.types` returned.
    func types(_ rows: [PostgresRow], on connection: PostgresConnection) async throws -> Acceptance.ContentTypes {
        var (found, versions) = (Acceptance.ContentTypes(), [Int: Int]())
        for row in rows {
            let lane: Int = try row.decode("lane")
            versions[lane] = try row.decode("version")
            if versions[lane] == nil { found.missing[lane] = try row.decode("name") }
        }
        let wanted = Set(versions.values)
        var known = types.withLock(\.self)
        let unread = wanted.subtracting(known.keys).sorted()
        if !unread.isEmpty {
            let rows = try await connection.query(
                "select bundle_id, attributes_type, declaration, version from content_types where version = any(\(unread))"
            )
            for row in rows { known[try row.decode("version")] = try row.contentType() }
            // Beyond 500 types all others are forgotten.
            if known.count > 500 { known = known.filter { wanted.contains($0.key) } }
            types.withLock { [known] in $0 = known }
        }
        found.byLane = versions.compactMapValues { known[$0] }
        return found
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
