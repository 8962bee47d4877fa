package import FoundationEssentials

/// A token bucket: `rate` requests a second on average, and up to `burst` at once. Pure: the caller passes the time.
package struct RateLimit: Sendable, Hashable {
    /// The parameters of a bucket.
    package struct Policy: Sendable, Hashable {
        /// Tokens that come back each second.
        package var rate: Double
        /// The tokens that a full bucket holds, at least one.
        package var burst: Double

        package init(rate: Double, burst: Double) {
            self.rate = rate
            self.burst = max(1, burst)
        }
    }

    /// The state of a client's bucket after a request, for the `RateLimit` headers.
    package struct Standing: Sendable, Hashable {
        /// The most requests at once.
        package var limit: Int
        package var remaining: Int
        /// If `isRefused`: seconds until a request is allowed again. Otherwise: seconds until the bucket is full.
        package var reset: Int
        /// This request was over the limit.
        package var isRefused: Bool
    }

    private var tokens: Double
    private var filledAt: Date

    package init(_ policy: Policy, at now: Date) {
        tokens = policy.burst
        filledAt = now
    }

    /// Takes a token if there is one. If the clock went backwards, the number of tokens stays the same.
    ///
    /// - Parameter count: 0: only the state is asked for.
    package mutating func take(_ policy: Policy, at now: Date, _ count: Double = 1) -> Standing {
        let passed = now.timeIntervalSince(filledAt)
        if passed > 0 { tokens = min(policy.burst, tokens + passed * policy.rate) }
        filledAt = now
        let isExhausted = tokens < 1
        if !isExhausted { tokens -= count }
        let wait = ((isExhausted ? 1 : policy.burst) - tokens) / policy.rate
        return Standing(
            limit: Int(policy.burst), remaining: Int(tokens), reset: max(1, Int(wait.rounded(.up))),
            isRefused: isExhausted)
    }
}
