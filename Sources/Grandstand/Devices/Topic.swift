internal import GrandstandContract

/// A subject that a person follows: a team, a league, a flight. An event has any number of topics.
package struct Topic: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` for text that openapi.yaml does not allow.
    package init?(rawValue: String) {
        guard TextRule.topic.accepts(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The rule for topics as a sentence, for error messages.
    package static let rule = TextRule.topic.sentence

    package var description: String { rawValue }

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
