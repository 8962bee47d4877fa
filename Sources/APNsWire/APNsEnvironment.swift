/// An environment of APNs. Channels, keys and device tokens of one environment are not valid in the other.
package enum APNsEnvironment: String, Decodable, Sendable, Hashable, CaseIterable, Comparable {
    /// Apple's sandbox: apps signed for development.
    case development
    /// TestFlight and the App Store.
    case production

    /// The base URL for broadcasts and device pushes, according to Apple's text and all successful reports
    /// (docs/internals/apns.md C1).
    package var sendURL: String {
        switch self {
        case .development: "https://api.sandbox.push.apple.com:443"
        case .production: "https://api.push.apple.com:443"
        }
    }

    /// The base URL of the management API. The ports differ: 2195 and 2196 are not interchangeable
    /// (docs/internals/apns.md C19).
    package var manageURL: String {
        switch self {
        case .development: "https://api-manage-broadcast.sandbox.push.apple.com:2195"
        case .production: "https://api-manage-broadcast.push.apple.com:2196"
        }
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
