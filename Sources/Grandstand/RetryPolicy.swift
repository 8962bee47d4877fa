package import FoundationEssentials

/// When to try again: exponential with jitter, bounded, obeying `Retry-After`.
///
/// Apple asks for 15 minutes after a 5xx; a score is stale by then, and repeating an absolute state with the same
/// timestamp is safe, so the first retries come quickly (docs/internals/apns.md C17).
package struct RetryPolicy: Sendable, Hashable {
    /// Seconds before the first retry, before jitter.
    package var base: Double
    /// The most seconds between two tries.
    package var ceiling: Double

    package init(base: Double, ceiling: Double) {
        self.base = base
        self.ceiling = ceiling
    }

    /// For broadcasts: seconds matter.
    package static let broadcasts = RetryPolicy(base: 0.25, ceiling: 30)
    /// For broadcasts that Apple refused because it does not know their channel: about a second for a reconciliation to
    /// look into it.
    package static let doubts = RetryPolicy(base: 2, ceiling: 30)
    /// For creating and deleting channels: a delay there delays no score.
    package static let channels = RetryPolicy(base: 0.5, ceiling: 300)
    /// For creations that Apple refused because the app's Broadcast capability is off: each of them finds out by itself
    /// when it is on again.
    package static let capability = RetryPolicy(base: 2, ceiling: 60)

    /// For creations that Apple refused for lack of a place. Nothing tells when one comes free or a limit is raised, so one
    /// creation of the app asks this often, and the others wait for its answer.
    package static let places = RetryPolicy(base: 15, ceiling: 15)

    /// The moment of the next try after `attempts` failed ones (at least 1).
    ///
    /// - Parameter jitter: a random number in 0..<1; the delay is between half of and the whole exponential step, so
    ///   that clients that failed together do not come back together.
    package func nextAttempt(after attempts: Int, now: Date, retryAfter: Int? = nil, jitter: Double) -> Date {
        let exponent = Double(min(max(attempts, 1) - 1, 30))
        let step = min(ceiling, base * exp2(exponent))
        let delay = step * (0.5 + jitter / 2)
        return now.addingTimeInterval(max(delay, Double(retryAfter ?? 0)))
    }

    private func exp2(_ exponent: Double) -> Double {
        var value = 1.0
        for _ in 0..<Int(exponent) { value *= 2 }
        return value
    }
}
