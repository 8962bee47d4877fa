/// The progress of a message to many tokens. The message is sent shard by shard, in the order of the members' numbers.
/// Two kinds of members wait in a queue: those whose push must be tried again, and those with frequent pushes turned
/// off that had a push recently (they rest). Only members in the queue have a row in the database for this message. A
/// crash repeats one shard, which changes nothing on a device because the timestamp is the same.
package struct FanOut: Sendable, Hashable {
    /// Every member up to this number was sent the message, or waits in the queue.
    package var cursor: Int
    /// Whether no member has a higher number than the cursor.
    package var isSwept: Bool
    /// Members in the queue, including `resting`.
    package var waiting: Int
    /// Members in the queue that rest and were not sent the message yet.
    package var resting: Int
    /// The number of members when the message began.
    package var total: Int
    /// Members whose push APNs answered with 200.
    package var accepted: Int
    /// Members whose push APNs refused for good.
    package var rejected: Int
    /// Members whose token is no longer valid.
    package var gone: Int
    /// Members for which the message expired before APNs accepted it.
    package var expired: Int

    package init(
        cursor: Int = 0, isSwept: Bool = false, waiting: Int = 0, resting: Int = 0, total: Int = 0,
        accepted: Int = 0, rejected: Int = 0, gone: Int = 0, expired: Int = 0
    ) {
        self.cursor = cursor
        self.isSwept = isSwept
        self.waiting = waiting
        self.resting = resting
        self.total = total
        self.accepted = accepted
        self.rejected = rejected
        self.gone = gone
        self.expired = expired
    }

    /// How a shard's members were chosen.
    package enum Step: Sendable, Hashable {
        /// From the sweep over all members.
        ///
        /// - Parameters:
        ///   - to: the highest number that was examined.
        ///   - isLast: whether no member has a higher number.
        ///   - resting: members that rest and were put into the queue.
        case sweep(to: Int, isLast: Bool, resting: Int)
        /// From the queue: `taken` members, of which `rested` had rested.
        case queue(taken: Int, rested: Int)
        case emptyQueue
    }

    /// The outcome of a shard.
    package struct Progress: Sendable, Hashable {
        package var step: Step
        /// Members that are put into the queue, to be tried again.
        package var again: Int
        package var accepted: Int
        package var rejected: Int
        package var gone: Int
        package var expired: Int
        /// The most frequent reason of failures.
        package var reason: String?

        package init(
            _ step: Step, again: Int = 0, accepted: Int = 0, rejected: Int = 0, gone: Int = 0, expired: Int = 0,
            reason: String? = nil
        ) {
            self.step = step
            self.again = again
            self.accepted = accepted
            self.rejected = rejected
            self.gone = gone
            self.expired = expired
            self.reason = reason
        }
    }

    /// The members that come next.
    package enum Next: Sendable, Hashable {
        /// Members beyond this number.
        case after(Int)
        /// Members of the queue that are due.
        case queue
    }

    package var next: Next { isSwept ? .queue : .after(cursor) }

    package mutating func advance(by progress: Progress) {
        switch progress.step {
        case .sweep(let cursor, let isLast, let resting):
            self.cursor = max(self.cursor, cursor)
            isSwept = isSwept || isLast
            waiting += resting
            self.resting += resting
        case .queue(let taken, let rested):
            waiting = max(0, waiting - taken)
            resting = max(0, resting - rested)
        case .emptyQueue: (waiting, resting) = (0, 0)
        }
        waiting += progress.again
        accepted += progress.accepted
        rejected += progress.rejected
        gone += progress.gone
        expired += progress.expired
        // Members that joined meanwhile count, too.
        total = max(total, decided + waiting)
    }

    /// Whether the outcome of every member is known: nobody is left to sweep, and nobody waits in the queue.
    package var isDone: Bool { isSwept && waiting == 0 }

    /// Whether only resting members still wait for the message. The message was sent to all other members, none of them
    /// is tried again, and APNs accepted at least one push.
    package var isDoneButForResting: Bool { isSwept && resting > 0 && waiting == resting && accepted > 0 }

    /// Counts the resting members as expired, because the message expired before it was sent to them.
    mutating func expireResting() {
        expired += resting
        (waiting, resting) = (0, 0)
    }

    /// Members whose outcome is known.
    private var decided: Int { accepted + rejected + gone + expired }

    /// Members that the message must still be sent to.
    package var pending: Int { isDone ? 0 : max(total - decided, waiting) }
}
