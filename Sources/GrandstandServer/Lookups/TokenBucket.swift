internal import FoundationEssentials
internal import Grandstand

/// A rate limit: each second gives `perSecond` permits. After a second without use, that many may be taken at once.
struct TokenBucket: Sendable {
    private let rate: Double
    private var tokens: Double
    private var filledAt: Date

    /// The bucket is full at first.
    init(perSecond rate: Double, now: Date) {
        self.rate = rate
        tokens = rate
        filledAt = now
    }

    /// Takes a permit; `false`: none is left now.
    mutating func take(now: Date) -> Bool {
        tokens = min(rate, tokens + max(0, now.timeIntervalSince(filledAt)) * rate)
        filledAt = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
