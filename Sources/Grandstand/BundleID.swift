internal import GrandstandContract

/// An iOS app's bundle ID exactly as registered with Apple. Apple's send path needs the registered upper and lower
/// case.
package struct BundleID: RawRepresentable, Decodable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` for text that openapi.yaml does not allow, including a topic with a `.push-type.…` suffix. Apple refuses
    /// such a topic as `TopicDisallowed`.
    package init?(rawValue: String) {
        guard TextRule.bundleId.accepts(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The rule in one sentence, for error texts.
    package static let rule = TextRule.bundleId.sentence

    /// The bundle ID in lower case. Two apps whose bundle IDs differ only in case cannot exist.
    package var topic: String { rawValue.lowercased() }

    /// Whether Apple's management API may refuse the registered spelling (docs/internals/apns.md section 7).
    package var hasCapitals: Bool { rawValue != topic }

    package var description: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
