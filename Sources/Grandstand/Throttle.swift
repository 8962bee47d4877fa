package import FoundationEssentials

/// An app that APNs throttles.
package struct Throttle: Sendable, Hashable {
    package var app: AppEnvironment
    package var api: AppSendRate.API
    /// When the first 429 came.
    package var since: Date
    /// Lanes that are due and wait for the rate.
    package var lanesWaiting: Int
    /// How many seconds the lane that waits longest has waited for the rate; 0 if no lane waits.
    package var oldestSeconds: TimeInterval

    package init(
        app: AppEnvironment, api: AppSendRate.API, since: Date, lanesWaiting: Int = 0, oldestSeconds: TimeInterval = 0
    ) {
        self.app = app
        self.api = api
        self.since = since
        self.lanesWaiting = lanesWaiting
        self.oldestSeconds = oldestSeconds
    }
}
