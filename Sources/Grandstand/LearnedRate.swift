package import FoundationEssentials

/// The rate of one app and API on one replica.
package struct LearnedRate: Sendable, Hashable {
    package var bundleID: BundleID
    package var api: AppSendRate.API
    package var replica: UUID
    /// Requests a second.
    package var perSecond: Double
    /// When the first and the last 429 came.
    package var since: Date
    package var throttledAt: Date

    package init(
        bundleID: BundleID, api: AppSendRate.API, replica: UUID, perSecond: Double, since: Date, throttledAt: Date
    ) {
        self.bundleID = bundleID
        self.api = api
        self.replica = replica
        self.perSecond = perSecond
        self.since = since
        self.throttledAt = throttledAt
    }
}

/// An app that APNs throttles, as the sum over all replicas.
package struct Throttle: Sendable, Hashable {
    package var app: AppEnvironment
    package var api: AppSendRate.API
    package var since: Date
    /// Requests a second.
    package var perSecond: Double
    /// Lanes that are due and wait for the rate.
    package var lanesWaiting: Int
    /// How many seconds the longest-waiting of them has waited; 0 if none waits.
    package var oldestSeconds: TimeInterval

    package init(
        app: AppEnvironment, api: AppSendRate.API, since: Date, perSecond: Double, lanesWaiting: Int,
        oldestSeconds: TimeInterval
    ) {
        self.app = app
        self.api = api
        self.since = since
        self.perSecond = perSecond
        self.lanesWaiting = lanesWaiting
        self.oldestSeconds = oldestSeconds
    }
}
