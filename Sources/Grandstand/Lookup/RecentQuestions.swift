package import FoundationEssentials

/// Recent questions to the database about names that memory did not have, in bounded number: a wrong name that is asked
/// for again and again costs it one query a second, and all wrong names together so many as the budget says.
package struct RecentQuestions<Name: Hashable & Sendable>: Sendable {
    private var until: [Name: Date] = [:]
    private var budget: TokenBucket
    private let keep: TimeInterval
    private let capacity: Int

    /// - Parameters:
    ///   - keep: seconds for which an answer is believed.
    ///   - perSecond: questions, all names together.
    package init(keep: TimeInterval = 1, perSecond: Double = 100, capacity: Int = 10_000, now: Date) {
        self.keep = keep
        self.capacity = capacity
        budget = TokenBucket(perSecond: perSecond, now: now)
    }

    /// Whether the database may be asked for `name` now; a caller that is told yes asks.
    package mutating func mayAsk(_ name: Name, now: Date) -> Bool {
        if let moment = until[name], moment > now { return false }
        guard budget.take(now: now) else { return false }
        if until.count >= capacity { until = until.filter { $0.value > now } }
        if until.count >= capacity { until.removeAll(keepingCapacity: true) }
        until[name] = now.addingTimeInterval(keep)
        return true
    }

    /// The database did not answer: the next caller asks again.
    package mutating func forget(_ name: Name) { until[name] = nil }
}
