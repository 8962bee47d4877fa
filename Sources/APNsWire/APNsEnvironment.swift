/// One of Apple's two worlds. A channel, a key or a device token of one means nothing in the other.
package enum APNsEnvironment: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Apple's sandbox: apps signed for development.
    case development
    /// TestFlight and the App Store.
    case production

    /// The host of broadcasts and device pushes, as Apple's prose and every successful report have it
    /// (docs/internals/apns.md C1).
    package var sendURL: String {
        switch self {
        case .development: "https://api.sandbox.push.apple.com:443"
        case .production: "https://api.push.apple.com:443"
        }
    }

    /// The host of the management API. The ports differ on purpose: 2195 and 2196 are not interchangeable (C19).
    package var manageURL: String {
        switch self {
        case .development: "https://api-manage-broadcast.sandbox.push.apple.com:2195"
        case .production: "https://api-manage-broadcast.push.apple.com:2196"
        }
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
