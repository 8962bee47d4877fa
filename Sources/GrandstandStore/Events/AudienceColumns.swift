internal import APNsWire
internal import Grandstand
internal import Postgres

/// The columns of `audiences`, `lanes` and `channels` that say which audience of its event a row is of (`Audience.ID`),
/// and those of its attributes.
enum AudienceColumns {
    static let id: PostgresQuery = "bundle_id, environment"
    static let attributes: PostgresQuery = "storage_policy"
    /// Attributes that are the audience's alone.
    static let ownAttributes: PostgresQuery = "delivery"

    /// Whether rows of one event are of the same audience.
    static func isSame(_ row: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        "\(row).bundle_id = \(other).bundle_id and \(row).environment = \(other).environment"
    }

    /// Whether a row is of this audience.
    static func isSame(_ row: PostgresQuery, _ id: Audience.ID) -> PostgresQuery {
        """
        \(row).bundle_id = \(id.bundleID.rawValue) and \(row).environment = \(id.environment.rawValue)::environment
        """
    }

    /// Whether a channel is as its audience wants it: another policy is another channel.
    ///
    /// - Parameter other: the audience, or another channel that is as it wants it.
    static func serves(_ channel: PostgresQuery, _ other: PostgresQuery) -> PostgresQuery {
        "\(isSame(channel, other)) and \(channel).storage_policy = \(other).storage_policy"
    }

    /// The same for a table of channels that an index by app could read, and should not: `|| ''` keeps the planner from
    /// it. It takes that index as long as it knows nothing of a table that just grew; then every audience reads all
    /// channels of its app (26 s while 10,000 events were made).
    static func servesOfEvent(_ channel: PostgresQuery, _ audience: PostgresQuery) -> PostgresQuery {
        """
        \(channel).bundle_id || '' = \(audience).bundle_id and \(channel).environment = \(audience).environment
            and \(channel).storage_policy = \(audience).storage_policy
        """
    }

    /// The values of an audience, in the order of `id` and `attributes`.
    static func values(_ audience: Audience) -> PostgresQuery {
        """
        \(audience.bundleID.rawValue)::text, \(audience.environment.rawValue)::environment,
            \(audience.storagePolicy.rawValue)::storage_policy
        """
    }

    /// The values of `ownAttributes`.
    static func ownValues(_ audience: Audience) -> PostgresQuery {
        "\(audience.delivery.rawValue)::audience_delivery"
    }

    /// Whether a row of `audiences` is of one that is reached by a channel.
    static func wantsChannel(_ row: PostgresQuery) -> PostgresQuery { "\(row).delivery = 'channel'" }

    /// Reads the audience of a row of `audiences`.
    static func audience(_ row: PostgresRow) throws -> Audience {
        Audience(
            bundleID: try row.word("bundle_id"), environment: try row.word("environment"),
            storagePolicy: try row.word("storage_policy"), delivery: try row.word("delivery"))
    }
}
