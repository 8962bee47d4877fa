package import FoundationEssentials

/// The rate at which APNs takes requests, learned from its answers. There is no limit before the first 429.
///
/// After a 429 the rate falls a little below the rate that APNs accepted in the last window. Then the rate grows back
/// to the refused rate: the nearer it comes to the refused rate, the more slowly it grows. If APNs sends no 429 at the
/// refused rate, the rate grows faster and faster, so that a lifted limit is noticed. The rate grows only while
/// requests wait for it. Pure: the result depends only on the answers and their times.
package struct SendRate: Sendable, Hashable {
    /// The length of the measurement and the lowest rate.
    package struct Settings: Sendable, Hashable {
        /// Seconds over which accepted requests are counted.
        package var window: TimeInterval
        /// The rate is never lower, in requests a second.
        package var floor: Double

        package init(window: TimeInterval, floor: Double) {
            self.window = window
            self.floor = floor
        }

        /// For an app: its traffic is many requests a second.
        package static let app = Settings(window: 1, floor: 0.5)
        /// For one channel: its traffic is one request a second at most.
        package static let lane = Settings(window: 20, floor: 0.2)
    }

    /// After a 429, requests continue at this share of the accepted rate.
    private static let reduction = 0.95
    /// One 429 without `Retry-After` divides the rate by at most this number. Without this bound the rate would fall
    /// too far when APNs refuses many lanes at the same time because of the limits of their own channels.
    private static let mostReduction = 8.0
    /// The rate is back at the refused rate after `returnTime` seconds and `returnRequests` requests of full use; both
    /// are needed.
    private static let returnTime: TimeInterval = 6
    private static let returnRequests = 70.0
    /// After a 429 with `Retry-After`, the return to the refused rate is slower by a factor, because nothing is sent
    /// meanwhile. Each second of `Retry-After` adds this to the factor.
    private static let retryAfterCost = 5.0
    /// The share by which the rate exceeds the refused rate after another `returnTime` of full use.
    private static let acceleration = 0.4
    /// Seconds of full use in which the rate doubles while no refused rate is known.
    private static let doubling: TimeInterval = 0.5
    /// `depth`: the tokens of this many seconds may accumulate, so that a process that is late by this time loses none.
    /// `quantum`: at a high rate, each batch has at least the tokens of this many seconds.
    private static let depth: TimeInterval = 0.1
    private static let quantum: TimeInterval = 0.02
    /// Seconds without a 429 after which the limit is forgotten.
    package static let memory: TimeInterval = 300

    private struct Limit: Sendable, Hashable {
        var since: Date
        var throttledAt: Date
        /// When the rate was last lowered. The answers to requests that were sent before this time say nothing about
        /// the lower rate.
        var loweredAt: Date
        /// The rate after it was last lowered, in requests a second.
        var base: Double
        /// The rate that was refused; `nil`: no limit was found yet, and the rate doubles.
        var refused: Double?
        var slowness = 1.0
        /// `usedTime` and `usedRequests`: seconds and requests of full use since the rate was lowered. `accepted`:
        /// requests that were sent since then and accepted.
        var usedTime: TimeInterval = 0
        var usedRequests = 0
        var accepted = 0
        var tokens = 0.0
        var tokensAt: Date
        /// Whether requests used up the tokens, and the tokens have not become full since then.
        var isUsed = true
        /// Nothing is sent before this time.
        var blockedUntil: Date
        /// Seconds of the last pause that was made because nothing was accepted; 0 after an acceptance.
        var hold: TimeInterval = 0

        var rate: Double {
            let used = min(usedTime, Double(usedRequests) * SendRate.returnTime / SendRate.returnRequests)
            guard let refused else {
                var rate = base
                var doublings = min(60, min(usedTime, Double(usedRequests) / 4) / SendRate.doubling)
                while doublings >= 1 {
                    rate *= 2
                    doublings -= 1
                }
                return rate * (1 + doublings)
            }
            let slowTime = SendRate.returnTime * slowness
            let distance = used < slowTime ? used / slowTime - 1 : (used - slowTime) / SendRate.returnTime
            let cube = distance * distance * distance
            return used < slowTime ? refused + (refused - base) * cube : refused * (1 + SendRate.acceleration * cube)
        }

        /// The fewest requests that are handed out at once. Each batch of requests costs a claim, so smaller batches
        /// would cost more claims.
        var least: Double { max(1, (rate * SendRate.quantum).rounded(.down)) }

        /// Adds the tokens that have accrued since `tokensAt`.
        func refilled(at now: Date) -> Limit {
            guard now > tokensAt else { return self }
            var limit = self
            limit.tokensAt = now
            let time = now.timeIntervalSince(max(tokensAt, blockedUntil))
            guard time > 0 else { return limit }
            let rate = self.rate
            let most = least + SendRate.depth * rate
            let needed = max(0, (most - tokens) / rate)
            // While the tokens are negative, nothing is sent, so no answer can show that the rate is too high. This
            // time must not count towards the next doubling.
            let debt = refused == nil ? max(0, -tokens) / rate : 0
            if isUsed { limit.usedTime += max(0, min(time, needed) - debt) }
            // No request waited, so the rate was not used to the full.
            if time > needed { limit.isUsed = false }
            limit.tokens = min(most, tokens + time * rate)
            return limit
        }
    }

    private let settings: Settings
    private var limit: Limit?
    /// Accepted requests in slots of a twentieth of the window; `slot` is the number of the newest slot.
    private var slots = [Int](repeating: 0, count: 20)
    private var slot = 0

    package init(_ settings: Settings = .app) { self.settings = settings }

    /// A rate without a limit. It counts `accepted` requests, answered evenly since `since`, in the current window.
    init(_ settings: Settings, accepted: Int, since: Date, at now: Date) {
        self.settings = settings
        turn(to: now)
        let seconds = max(1, now.timeIntervalSince(since))
        slots[slot % slots.count] = Int((Double(accepted) * min(1, settings.window / seconds)).rounded())
    }

    /// Whether a limit is known.
    package var isLimited: Bool { limit != nil }

    /// When the first 429 came; `nil`: there is no limit.
    package var since: Date? { limit?.since }

    /// When the last 429 came.
    package var throttledAt: Date? { limit?.throttledAt }

    /// Requests a second; `nil`: there is no limit.
    package var perSecond: Double? { limit?.rate }

    /// How many requests may be sent now; `nil`: any number.
    package func allowance(at now: Date) -> Int? {
        guard let limit = limit?.refilled(at: now) else { return nil }
        guard limit.blockedUntil <= now, limit.tokens + 1e-6 >= limit.least else { return 0 }
        return Int(limit.tokens + 1e-6)
    }

    /// When the next requests may be sent, if not now; `nil`: there is no limit.
    package func nextToken(at now: Date) -> Date? {
        guard let limit = limit?.refilled(at: now) else { return nil }
        let missing = max(0, limit.least - limit.tokens)
        return max(now, limit.blockedUntil).addingTimeInterval(missing / limit.rate)
    }

    /// Counts requests that are sent now. Requests beyond the allowance delay later ones.
    package mutating func spend(_ requests: Int, at now: Date) {
        guard var limit = limit?.refilled(at: now) else { return }
        limit.tokens -= Double(requests)
        if limit.isUsed { limit.usedRequests += requests }
        if limit.tokens < limit.least { limit.isUsed = true }
        self.limit = limit
    }

    /// Records that APNs accepted a request.
    package mutating func accepted(sentAt: Date, at now: Date) {
        turn(to: now)
        slots[slot % slots.count] += 1
        guard let loweredAt = limit?.loweredAt, sentAt > loweredAt else { return }
        limit?.accepted += 1
        limit?.hold = 0
    }

    /// Records that APNs answered 429. A request that was sent before the rate was last lowered says nothing new.
    ///
    /// - Parameters:
    ///   - retryAfter: seconds that APNs asked to wait.
    ///   - acceptedBefore: requests that were accepted in the second before the first 429; only the first call uses it.
    package mutating func throttled(
        retryAfter: Int? = nil, acceptedBefore: Int = 0, sentAt: Date, at now: Date
    ) {
        turn(to: now)
        limit = limit?.refilled(at: now)
        let blockedUntil = retryAfter.map { now.addingTimeInterval(Double($0)) } ?? now
        let measured = Double(slots.reduce(0, +)) / settings.window
        guard var limit else {
            // If APNs sent `Retry-After`, almost nothing was sent after the first 429. So the requests that APNs
            // accepted in the second before this 429 show the rate that APNs accepts.
            let before = Double(acceptedBefore) * (retryAfter == nil ? 1 / Self.mostReduction : Self.reduction)
            self.limit = Limit(
                since: now, throttledAt: now, loweredAt: now,
                base: max(settings.floor, before, Self.reduction * measured),
                slowness: 1 + Self.retryAfterCost * Double(retryAfter ?? 0), tokensAt: now, blockedUntil: blockedUntil)
            return
        }
        limit.throttledAt = now
        limit.blockedUntil = max(limit.blockedUntil, blockedUntil)
        defer { self.limit = limit }
        guard sentAt > limit.loweredAt else { return }
        let elapsed = now.timeIntervalSince(limit.loweredAt)
        if limit.accepted == 0, elapsed < settings.window, retryAfter == nil {
            // A limit per second refuses everything until the second is over. A lower rate would not help, so this only
            // pauses.
            limit.hold = min(0.4 * settings.window, max(0.05 * settings.window, 2 * limit.hold))
            limit.blockedUntil = max(limit.blockedUntil, now.addingTimeInterval(limit.hold))
            limit.tokens = min(limit.tokens, 1)
            limit.loweredAt = now
            return
        }
        let rate = limit.rate
        let isMeasured = elapsed >= settings.window || elapsed >= 0.3 * settings.window && limit.accepted >= 8
        let lower =
            isMeasured
            ? Self.reduction * (elapsed >= settings.window ? measured : Double(limit.accepted) / elapsed)
            // The rate was lowered so recently that the new rate cannot be measured yet. The window also counts
            // requests from the time before the rate was lowered.
            : min(Self.reduction * measured, 0.8 * rate)
        let least = retryAfter == nil ? max(settings.floor, rate / Self.mostReduction) : settings.floor
        limit.base = max(least, min(lower, Self.reduction * rate))
        limit.refused = max(rate, limit.base / Self.reduction)
        limit.slowness = 1 + Self.retryAfterCost * Double(retryAfter ?? 0)
        limit.usedTime = 0
        limit.usedRequests = 0
        limit.accepted = 0
        limit.tokens = min(limit.tokens, 0)
        limit.isUsed = true
        limit.loweredAt = now
    }

    /// Starts a limit at this replica's share of the rate, because other replicas are limited already.
    ///
    /// - Parameters:
    ///   - rate: this replica's share, in requests a second.
    ///   - since: when the first of the other replicas was throttled.
    ///   - throttledAt: when the last of the other replicas was throttled.
    package mutating func join(rate: Double, since: Date, throttledAt: Date, at now: Date) {
        guard limit == nil else { return }
        let rate = max(settings.floor, rate)
        limit = Limit(
            since: since, throttledAt: throttledAt, loweredAt: now, base: rate, refused: rate / Self.reduction,
            tokensAt: now, blockedUntil: now)
    }

    /// Multiplies the rate by `factor` when the number of replicas that share the limit changes. Also notes when
    /// another replica was throttled.
    package mutating func share(_ factor: Double, throttledAt: Date) {
        guard var limit else { return }
        limit.throttledAt = max(limit.throttledAt, throttledAt)
        if factor != 1 {
            limit.base = max(settings.floor, limit.base * factor)
            limit.refused = limit.refused.map { max($0 * factor, limit.base) }
        }
        self.limit = limit
    }

    /// Forgets a limit that caused no 429 for `memory` seconds.
    package mutating func forget(at now: Date) {
        if let limit, now.timeIntervalSince(limit.throttledAt) >= Self.memory { self.limit = nil }
    }

    /// Requests accepted in the last window.
    package mutating func acceptedLately(at now: Date) -> Int {
        turn(to: now)
        return slots.reduce(0, +)
    }

    /// Empties the slots of the time since the last request.
    private mutating func turn(to now: Date) {
        let newest = Int((now.timeIntervalSinceReferenceDate / settings.window * Double(slots.count)).rounded(.down))
        guard newest > slot else { return }
        for number in max(slot + 1, newest - slots.count + 1)...newest { slots[number % slots.count] = 0 }
        slot = newest
    }
}
