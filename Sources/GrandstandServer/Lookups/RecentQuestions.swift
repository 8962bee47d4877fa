internal import FoundationEssentials
internal import Grandstand

/// Limits the queries to the database for names that are not in memory. A wrong name that is requested again and again
/// costs one query a second. All names together cost no more queries than the budget allows.
struct RecentQuestions<Name: Hashable & Sendable>: Sendable {
    private var until: [Name: Date] = [:]
    private var budget: TokenBucket
    private let keep: TimeInterval
    private let capacity: Int

    /// - Parameters:
    ///   - keep: seconds during which the same name is not queried again.
    ///   - perSecond: queries a second for all names together.
    init(keep: TimeInterval = 1, perSecond: Double = 100, capacity: Int = 10_000, now: Date) {
        self.keep = keep
        self.capacity = capacity
        budget = TokenBucket(perSecond: perSecond, now: now)
    }

    /// Whether the database may be queried for `name` now. A caller that gets `true` must query it.
    mutating func mayAsk(_ name: Name, now: Date) -> Bool {
        if let moment = until[name], moment > now { return false }
        guard budget.take(now: now) else { return false }
        if until.count >= capacity { until = until.filter { $0.value > now } }
        if until.count >= capacity { until.removeAll(keepingCapacity: true) }
        until[name] = now.addingTimeInterval(keep)
        return true
    }

    /// Lets the next caller query again, because the database did not answer.
    mutating func forget(_ name: Name) { until[name] = nil }
}
