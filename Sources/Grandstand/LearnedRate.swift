package import FoundationEssentials

/// The most requests a second that one replica sends for one app to one of APNs' APIs (broadcast or device), as learned
/// from 429 answers.
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

/// An app that APNs throttles, with the totals of all replicas.
package struct Throttle: Sendable, Hashable {
    package var app: AppEnvironment
    package var api: AppSendRate.API
    package var since: Date
    /// Requests a second.
    package var perSecond: Double
    /// Lanes that are due and wait for the rate.
    package var lanesWaiting: Int
    /// How many seconds the lane that waits longest has waited for the rate; 0 if no lane waits.
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
