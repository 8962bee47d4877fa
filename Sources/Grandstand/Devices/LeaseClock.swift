package import FoundationEssentials

/// The time by which the leases of others end: it stands still while the database is away, for no replica can extend a
/// lease or record an answer meanwhile. So a lease that had time left before has as much when the database is back.
/// Pure.
package struct LeaseClock: Sendable {
    private var lastAnswer: Date?
    private var isAway = false
    /// How long it stood still, and until when that matters: a lease later, all are extended or over.
    private var pause: (length: TimeInterval, until: Date)?

    package init() {}

    /// The database answered.
    ///
    /// - Parameter lease: seconds for which leases are given.
    package mutating func answered(at now: Date, lease: TimeInterval) {
        if isAway, let lastAnswer {
            let earlier = pause.map { $0.until > lastAnswer ? $0.length : 0 } ?? 0
            pause = (earlier + now.timeIntervalSince(lastAnswer), now.addingTimeInterval(lease))
        }
        isAway = false
        lastAnswer = now
    }

    /// The database did not answer.
    package mutating func failed() { isAway = true }

    /// Leases that ended by then are over now.
    package func leasesOver(at now: Date) -> Date {
        let now = isAway ? lastAnswer ?? now : now
        guard let pause, now < pause.until else { return now }
        return now.addingTimeInterval(-pause.length)
    }
}
