package import FoundationEssentials

/// A rate limit: `perSecond` permits a second, and as many at once after a second without use.
package struct TokenBucket: Sendable {
    private let rate: Double
    private var tokens: Double
    private var filledAt: Date

    /// Full at first.
    package init(perSecond rate: Double, now: Date) {
        self.rate = rate
        tokens = rate
        filledAt = now
    }

    /// Takes a permit; `false`: none is left now.
    package mutating func take(now: Date) -> Bool {
        tokens = min(rate, tokens + max(0, now.timeIntervalSince(filledAt)) * rate)
        filledAt = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
