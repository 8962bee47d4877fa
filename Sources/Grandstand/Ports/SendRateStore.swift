package import APNsWire
package import FoundationEssentials

/// The rates that replicas learned for apps that APNs throttles.
package protocol SendRateStore: Sendable {
    /// Writes what this replica has learned in an environment, in place of what it wrote before, and reads what the
    /// others have. The first row of an app is reported to webhooks, and the end of its last.
    ///
    /// - Returns: all that is known now, this replica's included.
    func exchange(
        _ rates: [LearnedRate], of replica: UUID, in environment: APNsEnvironment
    ) async throws -> [LearnedRate]

    /// The lanes of throttled apps that wait for their turn, with the rates of all replicas.
    func throttles(now: Date) async throws -> [Throttle]
}

/// The rate of one app and API on one replica.
package struct LearnedRate: Sendable, Hashable {
    package var bundleID: BundleID
    package var api: AppSendRate.API
    package var replica: UUID
    /// Requests a second.
    package var perSecond: Double
    /// When the first 429 came, and the last.
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

/// An app that APNs throttles, over all replicas.
package struct Throttle: Sendable, Hashable {
    package var app: AppEnvironment
    package var api: AppSendRate.API
    package var since: Date
    /// Requests a second.
    package var perSecond: Double
    /// Lanes that are due and wait for the rate.
    package var lanesWaiting: Int
    /// For how many seconds the first of them has waited; 0 if none does.
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
