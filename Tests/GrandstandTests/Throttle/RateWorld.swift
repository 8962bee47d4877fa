internal import Dispatch
internal import FoundationEssentials

@testable internal import Grandstand

/// Replicas that always have something to send, and a limit that they do not know, in virtual time.
struct RateWorld {
    struct Second {
        /// By replica.
        var accepted: [Int]
        var refused = 0
    }

    private enum Event {
        case look(Int)
        case arrival(Int, sentAt: Double)
        case answer(Int, sentAt: Double, isAccepted: Bool)
    }

    private(set) var seconds: [Second]
    /// The number of requests that the limit allowed in each second.
    private(set) var offered: [Double]

    /// - Parameters:
    /// - present: the seconds in which each replica sends; empty: all.
    /// - changes: the limit's rate, by the second from which it applies.
    /// - retryAfter: the Retry-After of a refusal.
    /// - lateness: the most seconds by which a replica is late, as on a busy machine.
    init(
        _ limiter: Limiter, replicas: Int, present: [Range<Int>] = [], retryAfter: Int? = nil, duration: Int,
        changes: [Int: Double] = [:], underWay: Int = 200, lateness: Double = 0, seed: UInt64 = 1
    ) {
        var random = SplitMix64(state: seed)
        var limiter = limiter
        var rates = [SendRate](repeating: SendRate(), count: replicas)
        var flying = [Int](repeating: 0, count: replicas)
        var seconds = [Second](repeating: Second(accepted: flying), count: duration)
        var offered = [Double](repeating: 0, count: duration)
        /// By millisecond: an event is at least two milliseconds later than the event that causes it.
        var queue = [[(time: Double, event: Event)]](repeating: [], count: 1_000 * duration)
        func push(_ event: Event, at time: Double) {
            if time < Double(duration) { queue[Int(time * 1_000)].append((time, event)) }
        }
        func date(_ time: Double) -> Date { Date(timeIntervalSinceReferenceDate: 1_000 + time) }
        let present = present.isEmpty ? Array(repeating: 0..<duration, count: replicas) : present
        for replica in 0..<replicas {
            push(.look(replica), at: Double(present[replica].lowerBound) + Double(replica) * 0.007)
        }
        var second = -1
        for (time, event) in queue.indices.lazy.flatMap({ queue[$0].sorted { $0.time < $1.time } }) {
            while second < Int(time) {
                second += 1
                if let rate = changes[second] { limiter.rate = rate }
                offered[second] = limiter.rate
            }
            func delay(_ least: Double, _ most: Double) -> Double { .random(in: least..<most, using: &random) }
            switch event {
            case .look(let replica):
                guard time < Double(present[replica].upperBound) else { break }
                let room = underWay - flying[replica]
                let count = min(room, rates[replica].allowance(at: date(time)) ?? room)
                if count > 0 {
                    rates[replica].spend(count, at: date(time))
                    flying[replica] += count
                    for _ in 0..<count { push(.arrival(replica, sentAt: time), at: time + delay(0.010, 0.015)) }
                }
                // A claim takes time, and a wake-up is a little late.
                var next = time + delay(0.002, 0.006)
                if let token = rates[replica].nextToken(at: date(time)) {
                    next = max(next, token.timeIntervalSince(date(0)) + delay(0, 0.003))
                }
                if lateness > 0 { next += delay(0, lateness) }
                push(.look(replica), at: next)
            case .arrival(let replica, let sentAt):
                let isAccepted = limiter.takes(at: time)
                if isAccepted { seconds[second].accepted[replica] += 1 } else { seconds[second].refused += 1 }
                push(
                    .answer(replica, sentAt: sentAt, isAccepted: isAccepted), at: time + delay(0.010, 0.015))
            case .answer(let replica, let sentAt, let isAccepted):
                flying[replica] -= 1
                if isAccepted {
                    rates[replica].accepted(at: date(time))
                } else {
                    rates[replica].throttled(retryAfter: retryAfter, sentAt: date(sentAt), at: date(time))
                }
            }
        }
        self.seconds = seconds
        self.offered = offered
    }

    private static let thread = DispatchQueue(label: "rate-worlds")

    /// A simulation takes seconds of processor time. All run one after the other on their own thread, so that other
    /// tests need not wait.
    static func played(_ world: @escaping @Sendable () -> RateWorld) async -> RateWorld {
        await withCheckedContinuation { continuation in
            thread.async { continuation.resume(returning: world()) }
        }
    }

    /// The share of 429s among the answers in these seconds.
    func refused(_ range: Range<Int>) -> Double {
        let refused = seconds[range].reduce(0) { $0 + $1.refused }
        return Double(refused) / Double(max(1, refused + accepted(range)))
    }

    /// The share of the limit that was used in these seconds.
    func used(_ range: Range<Int>) -> Double {
        Double(accepted(range)) / offered[range].reduce(0, +)
    }

    /// The share of a replica in the accepted requests of these seconds.
    func share(of replica: Int, _ range: Range<Int>) -> Double {
        Double(seconds[range].reduce(0) { $0 + $1.accepted[replica] }) / Double(max(1, accepted(range)))
    }

    private func accepted(_ range: Range<Int>) -> Int {
        seconds[range].reduce(0) { $0 + $1.accepted.reduce(0, +) }
    }
}

/// Possible forms of APNs' limits.
struct Limiter {
    enum Kind {
        /// A token bucket with this capacity.
        case bucket(depth: Double)
        /// A number of requests in each second of the clock.
        case counter
        /// A number of requests within any second.
        case sliding
    }

    let kind: Kind
    /// Requests a second.
    var rate: Double
    private var tokens: Double
    private var at = 0.0
    private var second = -1
    private var count = 0.0
    private var window: [Double] = []
    private var first = 0

    init(_ kind: Kind, rate: Double) {
        self.kind = kind
        self.rate = rate
        tokens = if case .bucket(let depth) = kind { depth } else { 0 }
    }

    /// Whether a request at this time is accepted. Times must not go back.
    mutating func takes(at time: Double) -> Bool {
        switch kind {
        case .bucket(let depth):
            tokens = min(depth, tokens + (time - at) * rate)
            at = time
            guard tokens >= 1 else { return false }
            tokens -= 1
        case .counter:
            if Int(time) != second { (second, count) = (Int(time), 0) }
            guard count < rate else { return false }
            count += 1
        case .sliding:
            while first < window.count, window[first] <= time - 1 { first += 1 }
            guard Double(window.count - first) < rate else { return false }
            window.append(time)
        }
        return true
    }
}
