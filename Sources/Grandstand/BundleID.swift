internal import GrandstandContract

/// An iOS app's bundle ID exactly as registered at Apple; the case is kept, for Apple's send path wants it kept.
package struct BundleID: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` for text that openapi.yaml does not allow, also for a topic with a `.push-type.…` suffix, which Apple refuses
    /// as `TopicDisallowed`.
    package init?(rawValue: String) {
        guard TextRule.bundleId.accepts(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The sentence for refusals.
    package static let rule = TextRule.bundleId.sentence

    /// The lowercased form: two apps whose bundle IDs differ only in case cannot both exist.
    package var topic: String { rawValue.lowercased() }

    /// Whether Apple's management API may refuse the registered spelling (docs/internals/apns.md section 7).
    package var hasCapitals: Bool { rawValue != topic }

    package var description: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
