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

    fileprivate enum Event {
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
        var queue = EventQueue()
        func date(_ time: Double) -> Date { Date(timeIntervalSinceReferenceDate: 1_000 + time) }
        let present = present.isEmpty ? Array(repeating: 0..<duration, count: replicas) : present
        for replica in 0..<replicas {
            queue.push(.look(replica), at: Double(present[replica].lowerBound) + Double(replica) * 0.007)
        }
        var second = -1
        while let (time, event) = queue.pop(), time < Double(duration) {
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
                    for _ in 0..<count { queue.push(.arrival(replica, sentAt: time), at: time + delay(0.010, 0.015)) }
                }
                // A claim takes time, and a wake-up is a little late.
                var next = time + delay(0.002, 0.006)
                if let token = rates[replica].nextToken(at: date(time)) {
                    next = max(next, token.timeIntervalSince(date(0)) + delay(0, 0.003))
                }
                if lateness > 0 { next += delay(0, lateness) }
                queue.push(.look(replica), at: next)
            case .arrival(let replica, let sentAt):
                let isAccepted = limiter.takes(at: time)
                if isAccepted { seconds[second].accepted[replica] += 1 } else { seconds[second].refused += 1 }
                queue.push(
                    .answer(replica, sentAt: sentAt, isAccepted: isAccepted), at: time + delay(0.010, 0.015))
            case .answer(let replica, let sentAt, let isAccepted):
                flying[replica] -= 1
                if isAccepted {
                    rates[replica].accepted(sentAt: date(sentAt), at: date(time))
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

/// Events ordered by time, then by the order in which they were added. Unoptimized, this heap without a type parameter
/// and without swaps takes an eighth of the time.
private struct EventQueue {
    private var heap: [(time: Double, number: Int, event: RateWorld.Event)] = []
    private var count = 0

    mutating func push(_ event: RateWorld.Event, at time: Double) {
        count += 1
        let new = (time: time, number: count, event: event)
        heap.append(new)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            let above = heap[parent]
            if above.time <= time { break }
            heap[child] = above
            child = parent
        }
        heap[child] = new
    }

    mutating func pop() -> (Double, RateWorld.Event)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        let size = heap.count
        guard size > 0 else { return (first.time, first.event) }
        var parent = 0
        while 2 * parent + 1 < size {
            var child = 2 * parent + 1
            var least = heap[child]
            if child + 1 < size {
                let right = heap[child + 1]
                if (right.time, right.number) < (least.time, least.number) { (child, least) = (child + 1, right) }
            }
            if (last.time, last.number) < (least.time, least.number) { break }
            heap[parent] = least
            parent = child
        }
        heap[parent] = last
        return (first.time, first.event)
    }
}
