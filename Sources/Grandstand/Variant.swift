/// The name that tells the audiences of one app and environment apart: a language, home or away. An audience may have
/// none.
package struct Variant: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// Accepts 1–32 of the characters of event keys; `nil` for anything else.
    package init?(rawValue: String) {
        guard (1...32).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(EventKey.allows) else { return nil }
        self.rawValue = rawValue
    }

    /// The rule of the alphabet, for refusals.
    package static let rule = "A variant is 1 to 32 of A-Z a-z 0-9 . _ : and -."

    package var description: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
