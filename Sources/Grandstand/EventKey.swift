internal import GrandstandContract

/// The organiser's name for an event, such as a match or a flight.
package struct EventKey: RawRepresentable, Decodable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` for text that openapi.yaml does not allow.
    package init?(rawValue: String) {
        guard TextRule.eventKey.accepts(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The rule in one sentence, for error texts.
    package static let rule = TextRule.eventKey.sentence

    package var description: String { rawValue }
}
