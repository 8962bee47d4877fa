internal import APNsWire
internal import Grandstand
internal import Postgres

/// The columns of `audiences`, `lanes` and `channels` that say which audience of its event a row belongs to
/// (`Audience.ID`), and the columns of the audience's attributes.
enum AudienceColumns {
    private static let idNames = ["bundle_id", "environment", "variant"]
    /// Attributes that are copied to an audience's lane, because the lane's messages are planned by them.
    private static let laneNames = ["storage_policy", "priority", "delivery"]
    /// Attributes that are in the table `audiences` and not copied to `lanes`.
    private static let ownNames = ["content"]

    static let id = list(idNames)
    /// The attributes that lanes have.
    static let laneAttributes = list(laneNames)
    /// The columns of a row of `lanes` for the audience and its attributes.
    static let ofLane = list(idNames + laneNames)
    /// The columns of a row of `audiences` for the audience and its attributes.
    static let all = list(idNames + laneNames + ownNames)

    static func laneAttributes(of row: String) -> PostgresQuery { list(laneNames, of: row) }
    static func ofLane(of row: String) -> PostgresQuery { list(idNames + laneNames, of: row) }

    /// The columns of a row of `audiences` under names that begin with `prefix`, as `audience(_:as:)` reads them.
    static func all(of row: String, as prefix: String) -> PostgresQuery {
        PostgresQuery(
            unsafeSQL: (idNames + laneNames + ownNames).map { "\(row).\($0) as \(prefix)\($0)" }
                .joined(separator: ", "))
    }

    private static func list(_ names: [String], of row: String? = nil) -> PostgresQuery { .list(names, of: row) }

    /// Whether rows of one event are of the same audience.
    static func isSame(_ row: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        "\(isOfSameApp(row, other)) and \(row).variant = \(other).variant"
    }

    /// Whether rows are of the same app and environment, whatever their variants.
    static func isOfSameApp(_ row: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        "\(row).bundle_id = \(other).bundle_id and \(row).environment = \(other).environment"
    }

    /// Selects, among an event's audiences in an app and environment, the one for lookups that name no variant: the
    /// audience without a variant, else the first that is not over, else the first.
    ///
    /// - Parameters:
    ///   - key: an expression for the event's key.
    ///   - app: a row with `bundle_id` and `environment`.
    ///   - condition: a condition on rows `n`; other audiences do not count.
    static func first(
        of key: PostgresQuery, in app: PostgresQuery, where condition: PostgresQuery = "true"
    ) -> PostgresQuery {
        """
        select n.* from audiences n where n.event_key = \(key) and \(isOfSameApp("n", app)) and \(condition)
        order by n.variant <> '', (select true from lanes where id = n.lane and fenced_at is not null) is not null,
            n.position limit 1
        """
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

    /// Whether selectors in a column (`AudienceSelectors`) name the audience of a row; null: they name all audiences.
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

    /// Whether a channel serves an audience: it has the audience's storage policy.
    ///
    /// - Parameter other: the audience, or another channel that serves it.
    static func serves(_ channel: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        "\(isSame(channel, other)) and \(channel).storage_policy = \(other).storage_policy"
    }

    /// Whether a channel serves an audience (as `serves`), for a query in which the planner must not read channels by
    /// the index of apps: `|| ''` prevents the use of this index. The planner uses it as long as it has no statistics
    /// of a table that just grew. Then the query reads all channels of an app for each of its audiences (26 s while
    /// 10,000 events were made).
    static func servesOfEvent(_ channel: PostgresQuery, _ audience: PostgresQuery) -> PostgresQuery {
        """
        \(channel).bundle_id || '' = \(audience).bundle_id and \(channel).environment = \(audience).environment
            and \(channel).variant = \(audience).variant and \(channel).storage_policy = \(audience).storage_policy
        """
    }

    /// The values of an audience, in the order of `ofLane`.
    static func laneValues(_ audience: Audience) -> PostgresQuery {
        """
        \(audience.bundleID.rawValue)::text, \(audience.environment.rawValue)::environment,
            \(text(audience.variant)), \(audience.storagePolicy.rawValue)::storage_policy,
            \(audience.priority?.rawValue)::smallint, \(audience.delivery.rawValue)::audience_delivery
        """
    }

    /// The values of an audience, in the order of `all`.
    static func values(_ audience: Audience) -> PostgresQuery {
        "\(laneValues(audience)), \(audience.content)::text"
    }

    /// A variant as its column has it. If there is no variant, the column has `''` instead of null, so that it can be
    /// part of a key.
    static func text(_ variant: Variant?) -> String { variant?.rawValue ?? "" }

    /// Whether the audience in a row of `audiences` is reached by a channel.
    static func wantsChannel(_ row: PostgresQuery) -> PostgresQuery { "\(row).delivery = 'channel'" }

    /// Reads the audience of a row with the columns `all`, under names that begin with `prefix`.
    static func audience(_ row: PostgresRow, as prefix: String = "") throws -> Audience {
        var audience = try audienceOfLane(row, as: prefix)
        audience.content = try row.decode(prefix + "content")
        return audience
    }

    /// Reads the audience of a lane (`ofLane`), without the attributes that lanes do not have.
    static func audienceOfLane(_ row: PostgresRow, as prefix: String = "") throws -> Audience {
        Audience(
            id: try id(row, as: prefix), storagePolicy: try row.word(prefix + "storage_policy"),
            delivery: try row.word(prefix + "delivery"), priority: try row.optionalPriority(prefix + "priority"))
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
