/// A subject that a person follows: a team, a league, a flight. An event has any number of topics.
package struct Topic: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// Accepts what an event key accepts; `nil` for anything else.
    package init?(rawValue: String) {
        guard EventKey(rawValue: rawValue) != nil else { return nil }
        self.rawValue = rawValue
    }

    /// The rule of the alphabet, for refusals.
    package static let rule = "A topic is 1 to 128 of A-Z a-z 0-9 . _ : and -."

    package var description: String { rawValue }

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
