internal import Grandstand
internal import Postgres

/// The events that an app's installations may name: those with an audience of the app in its environment. The answer
/// for another app's event is the same as for an event that does not exist. Otherwise the API key that ships in an app
/// would tell anybody which events other apps have.
enum AppEvents {
    /// The key of an event that installations name, with the app and environment of these installations.
    struct Name: Hashable {
        /// `app_environments.id`.
        let app: Int
        let key: EventKey
    }

    /// Loads the events of `names` that have an audience of the app, for `variants(_:)`.
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

    /// The variants of each event's audiences; `nil`: an audience without a variant.
    static func variants(_ rows: PostgresRows) throws -> [Name: [String?]] {
        var variants: [Name: [String?]] = [:]
        for row in rows {
            variants[Name(app: try row.decode("app"), key: try row.word("key"))] = try row.decode(
                [String].self, "variants"
            ).map { $0.isEmpty ? nil : $0 }
        }
        return variants
    }
}
