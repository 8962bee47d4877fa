internal import GrandstandContract

/// The name that distinguishes the audiences of one app and environment: a language, home or away. An audience may have
/// none.
package struct Variant: RawRepresentable, Decodable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` for text that openapi.yaml does not allow.
    package init?(rawValue: String) {
        guard TextRule.variant.accepts(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The rule for names as a sentence, for error messages.
    package static let rule = TextRule.variant.sentence

    package var description: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
