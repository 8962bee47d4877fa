internal import Grandstand
internal import Postgres

extension Channel.State {
    /// The channel states with all of these traits, as SQL after `state in`.
    static func sql(_ traits: Traits) -> PostgresQuery {
        PostgresQuery(unsafeSQL: "(\(having(traits).map { "'\($0.rawValue)'" }.joined(separator: ", ")))")
    }
}
