internal import FoundationEssentials
internal import Grandstand

/// An app that APNs throttles.
struct Throttle: Sendable, Hashable {
    var app: AppEnvironment
    var api: AppSendRate.API
    /// When the first 429 came.
    var since: Date
    /// Lanes that are due and wait for the rate.
    var lanesWaiting: Int = 0
    /// How many seconds the lane that waits longest has waited for the rate; 0 if no lane waits.
    var oldestSeconds: TimeInterval = 0
}
