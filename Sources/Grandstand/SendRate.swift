package import FoundationEssentials

/// The rate at which APNs takes requests, learned from its answers: a token bucket. There is no limit before the first
/// 429.
///
/// After a 429 the rate is 95 % of what APNs accepted in the last second, but at least about two thirds of the rate
/// before. Each accepted request then raises it a little. The raise is tiny at first and doubles about every second, so
/// the rate is near the limit for several seconds, and a lifted limit is found in half a minute. A rate that is not used
/// does not grow. Each replica learns its own rate. Their rates add up to the limit, because the 429s are shared out as
/// the requests are. The smaller a replica's share is, the faster it grows. Pure: the result depends only on the
/// answers and their times.
package struct SendRate: Sendable {
    /// After a 429, requests continue at this share of the accepted rate.
    private static let keptShare = 0.95
    /// The rate is never lower, in requests a second. A first 429 without any acceptance allows twice as many.
    private static let floor = 0.25
    /// The weight of accepted requests falls with this time. So about the last second counts.
    private static let halfLife: TimeInterval = 0.5
    /// Seconds of full use in which the raise grows by the factor e.
    private static let growthTime: TimeInterval = 1.5
    /// The tokens of this many seconds may accumulate, so that a process that is late by this time loses none.
    private static let burstTime: TimeInterval = 0.1
    /// Seconds without a 429 after which the limit is forgotten.
    private static let memory: TimeInterval = 300

    private struct Limit: Sendable {
        let since: Date
        var throttledAt: Date
        /// Requests that were sent before do not lower the rate again: many of them went out at an older rate, and the
        /// accepted rate was not measured anew.
        var ignoredUntil = Date.distantPast
        /// Requests a second after the last reduction, and how much the rate was raised since.
        var base: Double
        var raised = 0.0
        var tokens = 0.0
        /// The time of `tokens`. It is in the future until `Retry-After` has passed.
        var tokensAt: Date

        var rate: Double { base + raised }

        /// The fewest requests that are handed out at once. Each batch of requests costs a claim, so smaller batches
        /// would cost more claims.
        var leastBatch: Double { max(1, 0.2 * SendRate.burstTime * rate) }

        /// Adds the tokens that have accrued since `tokensAt`.
        func refilled(at now: Date) -> Limit {
            guard now > tokensAt else { return self }
            var limit = self
            limit.tokens = min(1 + SendRate.burstTime * rate, tokens + now.timeIntervalSince(tokensAt) * rate)
            limit.tokensAt = now
            return limit
        }
    }

    private var limit: Limit?
    private var acceptedPerSecond = 0.0
    private var decayedAt = Date.distantPast

    package init() {}

    /// Whether a limit is known.
    package var isLimited: Bool { limit != nil }

    /// When the first 429 came; `nil`: there is no limit.
    package var limitedSince: Date? { limit?.since }

    /// Requests a second; `nil`: there is no limit.
    package var perSecond: Double? { limit?.rate }

    /// How many requests may be sent now; `nil`: any number.
    package func allowance(at now: Date) -> Int? {
        guard let limit = limit?.refilled(at: now) else { return nil }
        return limit.tokensAt > now || limit.tokens < limit.leastBatch ? 0 : Int(limit.tokens)
    }

    /// When the next requests may be sent, if not now; `nil`: there is no limit.
    package func nextToken(at now: Date) -> Date? {
        guard let limit = limit?.refilled(at: now) else { return nil }
        return limit.tokensAt.addingTimeInterval(max(0, limit.leastBatch - limit.tokens) / limit.rate)
    }

    /// Counts requests that are sent now. Requests beyond the allowance delay later ones.
    package mutating func spend(_ requests: Int, at now: Date) {
        limit = limit?.refilled(at: now)
        limit?.tokens -= Double(requests)
    }

    /// Records that APNs accepted a request.
    package mutating func accepted(at now: Date) {
        decay(at: now)
        acceptedPerSecond += 1 / Self.halfLife
        // A rate that is used in part only is raised to twice the use at most.
        guard let limit, limit.raised < max(limit.base, acceptedPerSecond) else { return }
        // Each search for the limit costs a 429. So below two requests a second the search takes longer.
        let perSecond = max(limit.rate, 1.5 * limit.rate.squareRoot())
        self.limit?.raised += limit.raised / (Self.growthTime * perSecond)
    }

    /// Records that APNs answered 429.
    ///
    /// - Parameter retryAfter: seconds that APNs asked to wait.
    package mutating func throttled(retryAfter: Int? = nil, sentAt: Date, at now: Date) {
        decay(at: now)
        let isFirst = limit == nil
        var limit =
            limit?.refilled(at: now) ?? Limit(since: now, throttledAt: now, base: acceptedPerSecond, tokensAt: now)
        defer { self.limit = limit }
        limit.throttledAt = now
        limit.tokensAt = max(limit.tokensAt, now.addingTimeInterval(Double(retryAfter ?? 0)))
        guard sentAt > limit.ignoredUntil else { return }
        // While lanes are refused again and again, little is accepted. So one 429 does not lower the rate by more than this.
        let accepted = max(0.7 * limit.rate, acceptedPerSecond)
        limit.base = max(Self.floor, Self.keptShare * min(limit.rate, accepted))
        // The first measured rate may be far too low, because requests were refused meanwhile. So the raise begins higher.
        // With `Retry-After`, each 429 costs a pause, so the raise begins lower and the next 429 comes later.
        limit.raised = isFirst ? Self.floor : (retryAfter == nil ? 3e-3 : 1e-7) / limit.base.squareRoot()
        limit.tokens = min(limit.tokens, 0)
        limit.ignoredUntil = max(limit.tokensAt, now.addingTimeInterval(1))
    }

    /// Forgets a limit that caused no 429 for `memory` seconds.
    package mutating func expire(at now: Date) {
        if let limit, now.timeIntervalSince(limit.throttledAt) >= Self.memory { self.limit = nil }
    }

    /// Reduces the weight of the requests that were accepted before.
    private mutating func decay(at now: Date) {
        guard now > decayedAt else { return }
        acceptedPerSecond /= 1 + now.timeIntervalSince(decayedAt) / Self.halfLife
        decayedAt = now
    }
}
