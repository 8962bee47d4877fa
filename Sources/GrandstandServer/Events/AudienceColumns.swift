internal import APNsWire
internal import Grandstand
internal import Postgres

/// The columns of `audiences` and `channels` that say which audience of its event a row belongs to (`Audience.ID`), and
/// the columns of the audience's attributes.
enum AudienceColumns {
    private static let idNames = ["bundle_id", "environment", "variant"]
    private static let names = idNames + ["storage_policy", "priority", "delivery", "content"]

    static let id = PostgresQuery.list(idNames)
    /// The columns of a row of `audiences` for the audience and its attributes.
    static let all = PostgresQuery.list(names)

    /// The columns of a row of `audiences` under names that begin with `prefix`, as `audience(_:as:)` reads them.
    static func all(of row: String, as prefix: String = "") -> PostgresQuery {
        PostgresQuery(unsafeSQL: names.map { "\(row).\($0) as \(prefix)\($0)" }.joined(separator: ", "))
    }

    /// Whether rows of one event are of the same audience.
    static func isSame(_ row: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        "\(isOfSameApp(row, other)) and \(row).variant = \(other).variant"
    }

    /// Whether rows are of the same app and environment, whatever their variants.
    static func isOfSameApp(_ row: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        "\(row).bundle_id = \(other).bundle_id and \(row).environment = \(other).environment"
    }

    /// Selects the audiences that match the selectors in a column (`isSelected`).
    ///
    /// - Parameters:
    ///   - key: an expression for the event's key.
    ///   - app: a row with `bundle_id` and `environment`.
    ///   - column: an expression for the selectors.
    static func selected(of key: PostgresQuery, in app: PostgresQuery, by column: PostgresQuery) -> PostgresQuery {
        """
        select n.* from audiences n
        where n.event_key = \(key) and \(isOfSameApp("n", app)) and \(isSelected("n", by: column)) offset 0
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

    /// Whether selectors in a column (`AudienceSelector`) name the audience of a row; null: they name all audiences.
    static func isSelected(_ row: PostgresQuery, by column: PostgresQuery) -> PostgresQuery {
        """
        (\(column) is null or exists (
            select from json_to_recordset(\(column)) as named("bundleId" text, environment text, variant text)
            where named."bundleId" = \(row).bundle_id and named.environment = \(row).environment::text
                and coalesce(named.variant, \(row).variant) = \(row).variant))
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

    /// The values of an audience, in the order of `all`.
    static func values(_ audience: Audience) -> PostgresQuery {
        """
        \(audience.bundleID.rawValue)::text, \(audience.environment.rawValue)::environment,
            \(text(audience.variant)), \(audience.storagePolicy.rawValue)::storage_policy,
            \(audience.priority?.rawValue)::smallint, \(audience.delivery.rawValue)::audience_delivery,
            \(audience.content)::text
        """
    }

    /// A variant as its column has it. If there is no variant, the column has `''` instead of null, so that it can be
    /// part of a key.
    static func text(_ variant: Variant?) -> String { variant?.rawValue ?? "" }

    /// Whether the audience in a row of `audiences` is reached by a channel.
    static func wantsChannel(_ row: PostgresQuery) -> PostgresQuery { "\(row).delivery = 'channel'" }

    /// Reads the audience of a row with the columns `all`, under names that begin with `prefix`.
    static func audience(_ row: PostgresRow, as prefix: String = "") throws -> Audience {
        Audience(
            id: try id(row, as: prefix), storagePolicy: try row.word(prefix + "storage_policy"),
            delivery: try row.word(prefix + "delivery"), priority: try row.optionalPriority(prefix + "priority"),
            content: try row.decode(prefix + "content"))
    }

    /// Reads the ID of the audience that a row belongs to, from the columns of `id`.
    static func id(_ row: PostgresRow, as prefix: String = "") throws -> Audience.ID {
        Audience.ID(
            bundleID: try row.word(prefix + "bundle_id"), environment: try row.word(prefix + "environment"),
            variant: try row.variant(prefix + "variant"))
    }
}

extension PostgresQuery {
    /// Names of columns, each with the name of the row in front, if there is one.
    static func list(_ names: [String], of row: String? = nil) -> PostgresQuery {
        PostgresQuery(unsafeSQL: names.map { name in row.map { "\($0).\(name)" } ?? name }.joined(separator: ", "))
    }
}

extension PostgresRow {
    /// Reads what `AudienceColumns.text` wrote.
    func variant(_ column: String) throws -> Variant? {
        let text: String = try decode(column)
        guard !text.isEmpty else { return nil }
        guard let variant = Variant(rawValue: text) else { throw UnknownWord(column: column, text: text) }
        return variant
    }
}
