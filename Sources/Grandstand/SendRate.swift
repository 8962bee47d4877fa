package import FoundationEssentials

/// The rate at which APNs takes requests, learned from its answers. There is no limit before the first 429.
///
/// After a 429 the rate falls to 95 % of the rate that APNs accepted. Then it grows in proportion to itself, faster and
/// faster, so that a lifted limit is noticed. It grows only while requests wait for it. Each replica learns its own
/// rate. Their rates add up to the limit, because the 429s are shared out as the requests are. Pure: the result depends
/// only on the answers and their times.
package struct SendRate: Sendable, Hashable {
    /// The length of the measurement and the lowest rate.
    package struct Settings: Sendable, Hashable {
        /// Seconds over which accepted requests are counted.
        package var window: TimeInterval
        /// The rate is never lower, in requests a second.
        package var floor: Double
        /// The rate grows with at least this share of the full speed.
        package var leastSpeed: Double

        /// For an app: its traffic is many requests a second. A replica's small share of the limit grows, too.
        package static let app = Settings(window: 1, floor: 0.5, leastSpeed: 0.25)
        /// For one channel: its traffic is one request a second at most.
        package static let lane = Settings(window: 20, floor: 0.2, leastSpeed: 0)
    }

    /// After a 429, requests continue at this share of the accepted rate.
    private static let reduction = 0.95
    /// Seconds of growth until the rate is back where it was before a reduction.
    private static let returnTime: TimeInterval = 6
    /// Seconds of growth after which the rate doubles every `doubling` seconds: the old limit no longer holds.
    private static let patience: TimeInterval = 12
    private static let doubling: TimeInterval = 3
    /// Below this rate, growth is slower, because a search for the limit costs a 429. So there is one 429 in about fifty
    /// requests, whatever the limit and the number of replicas.
    private static let fullSpeedRate = 8.0
    /// Before the first reduction, the rate doubles each second, or every four requests if that takes longer.
    private static let startRate = 4.0
    /// After a 429 with `Retry-After`, growth is slower by a factor, because nothing is sent meanwhile. Each second of
    /// `Retry-After` adds this to the factor.
    private static let retryAfterCost = 5.0
    /// `depth`: the tokens of this many seconds may accumulate, so that a process that is late by this time loses none.
    /// `quantum`: at a high rate, each batch has at least the tokens of this many seconds.
    private static let depth: TimeInterval = 0.1
    private static let quantum: TimeInterval = 0.02
    /// Seconds without a 429 after which the limit is forgotten.
    private static let memory: TimeInterval = 300

    private struct Limit: Sendable, Hashable {
        let leastSpeed: Double
        let since: Date
        var throttledAt: Date
        /// When the present rate began. The answers to requests that were sent before say nothing about it.
        var began: Date
        /// The rate when it began, in requests a second.
        var base: Double
        /// Whether the rate was not reduced yet. Then it was measured while most requests were refused, so it may be
        /// far too low.
        var isStart = true
        /// Seconds of full use since the rate began, fewer at low rates.
        var growth: TimeInterval = 0
        var slowness = 1.0
        var tokens = 0.0
        var tokensAt: Date
        /// Nothing is sent before this time.
        var blockedUntil: Date
        /// Seconds of the last pause that was made because nothing was accepted; 0 after an acceptance.
        var hold: TimeInterval = 0

        var rate: Double {
            if isStart { return base * Self.power(growth) }
            let growth = growth / slowness
            let share = growth / SendRate.returnTime
            return base * (1 + (1 / SendRate.reduction - 1) * share * share)
                * Self.power((growth - SendRate.patience) / SendRate.doubling)
        }

        /// About 2 to the power of `doublings`, at least 1.
        private static func power(_ doublings: Double) -> Double {
            let doublings = min(60, max(0, doublings))
            let whole = doublings.rounded(.down)
            return Double(sign: .plus, exponent: Int(whole), significand: 1 + doublings - whole)
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
            // Once the tokens are full, no request waits for the rate. While they are negative, nothing is sent, so no
            // answer can show that the rate of the start is too high.
            let used = min(time, max(0, most - tokens) / rate) - (isStart ? max(0, -tokens) / rate : 0)
            let speed = isStart ? rate / SendRate.startRate : max(leastSpeed, rate / SendRate.fullSpeedRate)
            limit.growth += max(0, used) * min(1, speed)
            limit.tokens = min(most, tokens + time * rate)
            return limit
        }
    }

    private let settings: Settings
    private var limit: Limit?
    /// Accepted requests that were sent at the present rate, in slots of a twentieth of the window; `slot` is the number
    /// of the newest slot.
    private var slots = [Int](repeating: 0, count: 20)
    private var slot = 0

    package init(_ settings: Settings = .app) { self.settings = settings }

    /// Whether a limit is known.
    package var isLimited: Bool { limit != nil }

    /// When the first 429 came; `nil`: there is no limit.
    package var since: Date? { limit?.since }

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
        limit = limit?.refilled(at: now)
        limit?.tokens -= Double(requests)
    }

    /// Records that APNs accepted a request.
    package mutating func accepted(sentAt: Date, at now: Date) {
        if let limit, sentAt <= limit.began { return }
        limit?.hold = 0
        turn(to: now)
        slots[slot % slots.count] += 1
    }

    /// Records that APNs answered 429. A request that was sent before the present rate began says nothing new.
    ///
    /// - Parameters:
    ///   - retryAfter: seconds that APNs asked to wait.
    ///   - accepted: if the limit begins: the requests a second that APNs accepted before; `nil`: as measured.
    package mutating func throttled(
        retryAfter: Int? = nil, accepted: Double? = nil, sentAt: Date, at now: Date
    ) {
        turn(to: now)
        let count = Double(slots.reduce(0, +))
        let blockedUntil = retryAfter.map { now.addingTimeInterval(Double($0)) } ?? now
        guard var limit = limit?.refilled(at: now) else {
            let base = max(settings.floor, Self.reduction * (accepted ?? count / settings.window))
            self.limit = Limit(
                leastSpeed: settings.leastSpeed, since: now, throttledAt: now, began: blockedUntil, base: base,
                tokensAt: now, blockedUntil: blockedUntil)
            slots = slots.map { _ in 0 }
            return
        }
        defer { self.limit = limit }
        limit.throttledAt = now
        limit.blockedUntil = max(limit.blockedUntil, blockedUntil)
        guard sentAt > limit.began else { return }
        let time = min(settings.window, now.timeIntervalSince(limit.began))
        if count == 0, time < settings.window, retryAfter == nil {
            // A limit per second refuses everything until the second is over. A lower rate would not help, so this only
            // pauses.
            limit.hold = min(0.4 * settings.window, max(0.05 * settings.window, 2 * limit.hold))
            limit.blockedUntil = max(limit.blockedUntil, now.addingTimeInterval(limit.hold))
            limit.began = limit.blockedUntil
            limit.tokens = min(limit.tokens, 1)
            return
        }
        let rate = limit.rate
        // At a low rate, few requests were counted. The square root is the error of their number.
        let isMeasured = time >= settings.window || time >= 0.3 * settings.window && count >= 8
        let lower = isMeasured ? Self.reduction * min(rate, (count + count.squareRoot()) / time) : 0.8 * rate
        limit.base = max(settings.floor, 0.5 * rate, lower)
        limit.isStart = limit.isStart && count == 0
        limit.slowness = 1 + Self.retryAfterCost * Double(retryAfter ?? 0)
        limit.growth = 0
        limit.tokens = min(limit.tokens, 0)
        limit.began = limit.blockedUntil
        slots = slots.map { _ in 0 }
    }

    /// Forgets a limit that caused no 429 for `memory` seconds.
    package mutating func forget(at now: Date) {
        if let limit, now.timeIntervalSince(limit.throttledAt) >= Self.memory { self.limit = nil }
    }

    /// Empties the slots of the time since the last request.
    private mutating func turn(to now: Date) {
        let newest = Int((now.timeIntervalSinceReferenceDate / settings.window * Double(slots.count)).rounded(.down))
        guard newest > slot else { return }
        for number in max(slot + 1, newest - slots.count + 1)...newest { slots[number % slots.count] = 0 }
        slot = newest
    }
}
