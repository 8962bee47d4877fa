internal import GrandstandContract

/// The organiser's own name for what people follow: a match, a game, a flight.
package struct EventKey: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` for text that openapi.yaml does not allow.
    package init?(rawValue: String) {
        guard TextRule.eventKey.accepts(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The sentence for refusals.
    package static let rule = TextRule.eventKey.sentence

    package var description: String { rawValue }
}
