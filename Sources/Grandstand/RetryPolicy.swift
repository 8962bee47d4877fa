package import FoundationEssentials

/// When to retry: exponential backoff with jitter and a ceiling. `Retry-After` is obeyed.
///
/// Apple asks for 15 minutes after a 5xx. After 15 minutes a score is out of date. Repeating an absolute state with the
/// same timestamp is safe, so the first retries come quickly (docs/internals/apns.md C17).
package struct RetryPolicy: Sendable, Hashable {
    /// Seconds before the first retry, before jitter.
    package var base: Double
    /// The most seconds between two tries.
    package var ceiling: Double

    /// For broadcasts, which must reach devices within seconds.
    package static let broadcasts = RetryPolicy(base: 0.25, ceiling: 30)
    /// For broadcasts that Apple refused because it does not know their channel. The pause leaves time for a
    /// reconciliation.
    package static let inDoubt = RetryPolicy(base: 2, ceiling: 30)
    /// For creating and deleting channels, which are less urgent than broadcasts.
    package static let channels = RetryPolicy(base: 0.5, ceiling: 300)
    /// For creations that Apple refused because the app's Broadcast capability is off. Each creation retries on its
    /// own.
    package static let capabilityOff = RetryPolicy(base: 2, ceiling: 60)

    /// For connections to APNs, which treats rapid opening and closing as an attack and blocks such clients
    /// (docs/internals/apns.md 6).
    package static let connections = RetryPolicy(base: 0.1, ceiling: 15)

    /// For creations that Apple refused because no place is free. The server is not informed when a place becomes free
    /// or the limit is raised. So one creation of the app retries at this interval, and the others wait for its
    /// result.
    package static let noPlace = RetryPolicy(base: 15, ceiling: 15)

    /// When to try again after `attempts` failures (at least 1).
    package func nextAttempt(after attempts: Int, now: Date, retryAfter: Int? = nil, jitter: Double) -> Date {
        now.addingTimeInterval(max(delay(after: attempts, jitter: jitter), Double(retryAfter ?? 0)))
    }

    /// Seconds to wait after `attempts` failures (at least 1).
    ///
    /// - Parameter jitter: a random number in 0..<1. The delay is between half of the exponential step and the whole
    ///   step, so that clients that failed together do not retry together.
    package func delay(after attempts: Int, jitter: Double) -> TimeInterval {
        let step = min(ceiling, base * Double(1 << min(max(attempts, 1) - 1, 30)))
        return step * (0.5 + jitter / 2)
    }
}
