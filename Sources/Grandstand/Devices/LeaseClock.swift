package import FoundationEssentials

/// The clock that decides whether leases of other replicas have ended. It stops while the database is away, because no
/// replica can extend a lease or record an answer then. So a lease has as much time left after the outage as before it.
/// Pure.
package struct LeaseClock: Sendable {
    private var lastAnswer: Date?
    private var isAway = false
    /// How long the clock stopped, and until when this length is subtracted from the time. One lease duration after the
    /// outage, every lease has been extended or has ended.
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

    /// The time to compare leases with: leases that end at or before this time are over.
    package func leasesEndedBefore(at now: Date) -> Date {
        let now = isAway ? lastAnswer ?? now : now
        guard let pause, now < pause.until else { return now }
        return now.addingTimeInterval(-pause.length)
    }
}
