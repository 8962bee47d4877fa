internal import Grandstand
internal import Postgres

/// Which events an app's installations may speak of: those that have an audience of the app in its environment. Another
/// app's event is answered as one that does not exist, or the key that ships in an app would tell strangers which events
/// others have.
enum AppEvents {
    /// An event as it was named, by installations of an app in its environment.
    struct Name: Hashable {
        /// `app_environments.id`.
        let app: Int
        let key: EventKey
    }

    /// Those of `names` that are of their apps, as `variants(_:)` reads them.
    static func load(_ names: Set<Name>) -> PostgresQuery {
        let names = names.sorted { ($0.app, $0.key.rawValue) < ($1.app, $1.key.rawValue) }
        return """
            select n.app, n.key, v.variants
            from unnest(\(names.map { Int32($0.app) }), \(names.map(\.key.rawValue))) as n(app, key)
            cross join lateral (
                select array_agg(u.variant order by u.position) as variants from app_environments ae
                join audiences u on \(AudienceColumns.isOfSameApp("u", "ae"))
                where ae.id = n.app and u.event_key = n.key) v
            where v.variants is not null
            """
    }

    /// The variants of each event's audiences; `nil` in place of none.
    static func variants(_ rows: PostgresRows) throws -> [Name: [String?]] {
        var variants: [Name: [String?]] = [:]
        for row in rows {
            variants[Name(app: try row.decode("app"), key: try row.word("key"))] = try row.decode(
                [String].self, "variants"
            ).map { $0.isEmpty ? nil : $0 }
        }
        return variants
    }

    /// - Parameters: expressions for the event's key and for `app_environments.id`.
    static func concerns(_ key: PostgresQuery, _ app: PostgresQuery) -> PostgresQuery {
        """
        exists (select from app_environments ae join audiences u on \(AudienceColumns.isOfSameApp("u", "ae"))
            where ae.id = \(app) and u.event_key = \(key))
        """
    }
}
