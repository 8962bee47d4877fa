package import APNsWire
package import FoundationEssentials

/// The send rates that replicas learned for apps that APNs throttles.
package protocol SendRateStore: Sendable {
    /// Stores the rates that this replica has learned in an environment, in place of its earlier ones, and reads those
    /// of the other replicas. Webhooks are informed when an app gets its first row and when its last row is removed.
    ///
    /// - Returns: all known rates, including those of this replica.
    func exchange(
        _ rates: [LearnedRate], of replica: UUID, in environment: APNsEnvironment
    ) async throws -> [LearnedRate]

    /// The throttled apps, with the number of their waiting lanes and the rates of all replicas.
    func throttles(now: Date) async throws -> [Throttle]
}

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
