/// Versions of iOS or iPadOS as numbers: 1000 times the major version, plus the minor.
package enum SystemVersion {
    /// The first version on which a push can start an activity (docs/internals/apns.md 3.2).
    package static let firstWithStarts = 17_002
    /// The first version on which a start may name a channel or ask for a token. Earlier versions ignore such a push.
    package static let firstWithChannels = 18_000

    /// The number of `18`, `18.4` or `18.4.1`, as the contract's pattern has it; further parts do not matter.
    package static func number(_ text: String) -> Int {
        let parts = text.split(separator: ".").compactMap { Int($0) } + [0, 0]
        return parts[0] * 1_000 + parts[1]
    }
}
