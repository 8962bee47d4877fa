internal import GrandstandContract

/// The version of iOS or iPadOS: only the parts that decide whether a push can start an activity.
package struct SystemVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let major: Int
    package let minor: Int

    package init(_ major: Int, _ minor: Int = 0) {
        self.major = major
        self.minor = minor
    }

    /// Reads `18`, `18.4` or `18.4.1`; further parts do not matter. `nil` for anything else, and for parts above 999.
    package init?(_ text: String) {
        guard TextRule.systemVersion.accepts(text) else { return nil }
        let parts = text.split(separator: ".").compactMap { Int($0) }
        self.init(parts[0], parts.count > 1 ? parts[1] : 0)
    }

    /// 1000 times the major version, plus the minor: its column in the database.
    package var number: Int { major * 1_000 + minor }

    package init(number: Int) { self.init(number / 1_000, number % 1_000) }

    /// The first version on which a push can start an activity (docs/internals/apns.md 3.2).
    package static let firstWithStarts = SystemVersion(17, 2)
    /// The first version on which a start may name a channel or ask for a token. Earlier versions ignore such a push.
    package static let firstWithChannels = SystemVersion(18)

    package var description: String { "\(major).\(minor)" }

    package static func < (one: Self, other: Self) -> Bool { one.number < other.number }
}
