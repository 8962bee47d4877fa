internal import APNsWire
internal import Grandstand
internal import Postgres

/// The columns of `audiences` and `channels` that say which audience of its event a row belongs to (`Audience.ID`), and
/// the columns of the audience's attributes.
enum AudienceColumns {
    /// An audience with its event, its place among the event's audiences, and whether the event's start is for it.
    typealias Row = (key: String, position: Int, audience: Audience, starts: Bool)

    static let columns = Columns<Row>(
        "audiences", key: "lane",
        [
            .init("event_key") { $0.key }, .init("position") { $0.position }, .init("starts") { $0.starts },
            .init("bundle_id") { $0.audience.bundleID.rawValue },
            .init("environment", "environment") { $0.audience.environment.rawValue },
            .init("variant") { text($0.audience.variant) },
            .init("storage_policy", "storage_policy") { $0.audience.storagePolicy.rawValue },
            .init("priority") { $0.audience.priority },
            .init("delivery", "audience_delivery") { $0.audience.delivery.rawValue },
            .init("content") { $0.audience.contentType },
        ])

    /// Inserts audiences of an event, or replaces what their declaration says.
    static func upsert(_ rows: [Row]) -> PostgresQuery {
        """
        \(columns.insert(rows)) on conflict (event_key, \(id)) do update set
            (position, starts, storage_policy, priority, delivery, content) = (excluded.position, excluded.starts,
            excluded.storage_policy, excluded.priority, excluded.delivery, excluded.content)
        """
    }

    static let id: PostgresQuery = "bundle_id, environment, variant"

    /// The columns of a row of `audiences` for the audience and its attributes, as `audience(_:)` reads them.
    static func names(of row: String? = nil) -> PostgresQuery {
        columns.names(of: row, except: ["event_key", "position", "starts"])
    }

    /// Whether rows of one event are of the same audience.
    static func isSame(_ row: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        "\(isOfSameApp(row, other)) and \(row).variant = \(other).variant"
    }

    /// Whether rows are of the same app and environment, whatever their variants.
    static func isOfSameApp(_ row: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        "\(row).bundle_id = \(other).bundle_id and \(row).environment = \(other).environment"
    }

    /// Selects the audiences that the event's start is for.
    ///
    /// - Parameters:
    ///   - key: an expression for the event's key.
    ///   - app: a row with `bundle_id` and `environment`.
    static func toStart(of key: PostgresQuery, in app: PostgresQuery) -> PostgresQuery {
        """
        select n.* from audiences n where n.event_key = \(key) and \(isOfSameApp("n", app)) and n.starts offset 0
        """
    }

    /// Selects the audience that a variant's tokens belong to, as the view `crowds` does: the audience of that variant
    /// or, if that audience was removed, the audience without a variant, else the first audience. The audience is
    /// selected also after its end, because its tokens got that end.
    static func ofTokens(of key: PostgresQuery, in app: PostgresQuery, variant: PostgresQuery) -> PostgresQuery {
        """
        select n.* from audiences n where n.event_key = \(key) and \(isOfSameApp("n", app))
        order by n.variant <> \(variant), n.variant <> '', n.position limit 1
        """
    }

    /// Whether a row is of this audience.
    static func isSame(_ row: PostgresQuery, _ id: Audience.ID) -> PostgresQuery {
        """
        \(row).bundle_id = \(id.bundleID.rawValue) and \(row).environment = \(id.environment.rawValue)::environment
            and \(row).variant = \(text(id.variant))
        """
    }

    /// Whether a channel of an event serves an audience of it: it has the audience's storage policy. The rows are found by
    /// the event, and the planner must not read `row` by the index of apps: `|| ''` prevents the use of this index. The
    /// planner uses it as long as it has no statistics of a table that just grew. Then a query reads all channels of an
    /// app for each of its audiences (26 s while 10,000 events were made).
    ///
    /// - Parameters:
    ///   - row: the channel or the audience.
    ///   - other: the audience, or another channel that serves it.
    static func serves(_ row: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        """
        \(row).bundle_id || '' = \(other).bundle_id and \(row).environment = \(other).environment
            and \(row).variant = \(other).variant and \(row).storage_policy = \(other).storage_policy
        """
    }

    /// A variant as its column has it. If there is no variant, the column has `''` instead of null, so that it can be
    /// part of a key.
    static func text(_ variant: Variant?) -> String { variant?.rawValue ?? "" }

    /// Whether the audience in a row of `audiences` is reached by a channel.
    static func wantsChannel(_ row: PostgresQuery) -> PostgresQuery { "\(row).delivery = 'channel'" }

    /// Reads the audience of a row with the columns `names`.
    static func audience(_ row: PostgresRow) throws -> Audience {
        Audience(
            id: try id(row), storagePolicy: try row.word("storage_policy"), delivery: try row.word("delivery"),
            priority: try row.decode("priority"), contentType: try row.decode("content"))
    }

    /// Reads the ID of the audience that a row belongs to, from the columns `id` with this prefix.
    static func id(_ row: PostgresRow, as prefix: String = "") throws -> Audience.ID {
        Audience.ID(
            bundleID: try row.word(prefix + "bundle_id"), environment: try row.word(prefix + "environment"),
            variant: try row.variant(prefix + "variant"))
    }
}

extension PostgresRow {
    /// Reads what `AudienceColumns.text` wrote.
    func variant(_ column: String) throws -> Variant? {
        let text: String? = try decode(column)
        return text?.isEmpty ?? true ? nil : try word(column)
    }
}
