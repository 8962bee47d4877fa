internal import Grandstand
internal import Postgres

extension Channel.State {
    /// The states with all of these traits, as SQL after `state in`.
    static func sql(_ traits: Traits) -> PostgresQuery {
        PostgresQuery(unsafeSQL: "(\(having(traits).map { "'\($0.rawValue)'" }.joined(separator: ", ")))")
    }
}
