/// An iOS app's bundle ID exactly as registered at Apple; the case is kept, for Apple's send path wants it kept.
package struct BundleID: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// Accepts 1–155 of `A-Z a-z 0-9 . -`, Apple's alphabet for bundle IDs; `nil` for anything else, also for a topic
    /// with a `.push-type.…` suffix, which Apple refuses as `TopicDisallowed`.
    package init?(rawValue: String) {
        let allowed = rawValue.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard allowed, (1...155).contains(rawValue.utf8.count), rawValue.utf8.first != UInt8(ascii: "."),
            rawValue.utf8.last != UInt8(ascii: "."), !Self.isTopic(rawValue)
        else { return nil }
        self.rawValue = rawValue
    }

    /// Only where a dash is, which few bundle IDs have: the search costs more than all the rest, for every row read.
    private static func isTopic(_ text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: "-")) && text.contains(".push-type.")
    }

    /// The rule of the alphabet, for refusals.
    package static let rule =
        "A bundle ID is 1 to 155 of A-Z a-z 0-9 . and -, exactly as registered at Apple, without a push-type suffix."

    /// The lowercased form: two apps whose bundle IDs differ only in case cannot both exist.
    package var topic: String { rawValue.lowercased() }

    /// Whether Apple's management API may refuse the registered spelling (docs/internals/apns.md section 7).
    package var hasCapitals: Bool { rawValue != topic }

    package var description: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
