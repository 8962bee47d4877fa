package import APNsWire

/// How much of an app's channel limit is taken in one environment.
package struct Quota: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    package var limit: Int
    package var byState: [Channel.State: Int]
    /// Of the channels that count.
    package var byStoragePolicy: [StoragePolicy: Int]
    package var forecast: Forecast

    package init(
        bundleID: BundleID, environment: APNsEnvironment, limit: Int, byState: [Channel.State: Int],
        byStoragePolicy: [StoragePolicy: Int], forecast: Forecast
    ) {
        self.bundleID = bundleID
        self.environment = environment
        self.limit = limit
        self.byState = byState
        self.byStoragePolicy = byStoragePolicy
        self.forecast = forecast
    }

    /// Channels that exist at Apple as far as is known.
    package var used: Int { count(.active, .retiring, .deleting) }
    /// Places taken for creations that Apple has not answered yet.
    package var reserved: Int { count(.creating) }
    package var available: Int { max(0, limit - used - reserved) }
    package var missing: Int { count(.missing) }

    package enum Level: String, Sendable, Hashable {
        case ok
        /// From 80 % of the limit.
        case warning
        /// From 95 % of the limit.
        case critical
    }

    package var level: Level {
        let taken = (used + reserved) * 100
        if taken >= limit * 95 { return .critical }
        return taken >= limit * 80 ? .warning : .ok
    }

    private func count(_ states: Channel.State...) -> Int { states.reduce(0) { $0 + byState[$1, default: 0] } }
}

extension Problem {
    /// No channel is left: at our limit (without `apns`) or at Apple's.
    package static func quotaExhausted(
        _ address: APNsAddress, limit: Int, used: Int, reserved: Int, apns: APNsRefusal? = nil
    ) -> Problem {
        Problem(
            .quotaExhausted,
            "\(address.bundleID) has \(used) channels in \(address.environment.rawValue) and \(reserved) on their way; "
                + "the limit is \(limit). End or delete events that are over, or raise the app's channelLimit.",
            apns: apns,
            members: [("limit", .integer(limit)), ("used", .integer(used)), ("reserved", .integer(reserved))])
    }
}
