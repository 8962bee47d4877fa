/// How far a message to many tokens has got. It is sent shard by shard, in the order of the members' numbers. Members
/// that must be tried again wait in a queue; so do members that want few pushes and had one just now. No other token
/// has a row of its own. A crash repeats one shard, which changes nothing on a device because the timestamp is the
/// same.
package struct FanOut: Sendable, Hashable {
    /// Members up to this number were sent to, or wait in the queue.
    package var cursor: Int
    /// No member is beyond the cursor.
    package var isSwept: Bool
    /// Members in the queue, `resting` included.
    package var waiting: Int
    /// Of these, the ones that want few pushes and were not sent to yet.
    package var resting: Int
    /// Members there were when it began.
    package var total: Int
    /// APNs said 200.
    package var accepted: Int
    /// Refused for good.
    package var rejected: Int
    /// Their tokens are no longer valid.
    package var gone: Int
    /// Their deadline passed before APNs accepted the message.
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
        ///   - to: the highest number that was looked at.
        ///   - isLast: no member is beyond it.
        ///   - resting: members that want few pushes, and went into the queue.
        case sweep(to: Int, isLast: Bool, resting: Int)
        /// From the queue: `taken` members, of which `rested` had rested.
        case queue(taken: Int, rested: Int)
        /// The queue is empty.
        case emptyQueue
    }

    /// The outcome of a shard.
    package struct Progress: Sendable, Hashable {
        package var step: Step
        /// Members that go into the queue, to be tried again.
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

    /// The members that are sent to next.
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

    /// All members were sent to.
    package var isDone: Bool { isSwept && waiting == 0 }

    /// All members were sent to, but those that want few pushes and rest.
    package var isDoneButForResting: Bool { isSwept && resting > 0 && waiting == resting && accepted > 0 }

    /// Counts the resting members as expired, because the message's time ran out before their turn.
    mutating func expireResting() {
        expired += resting
        (waiting, resting) = (0, 0)
    }

    /// Members whose outcome is known.
    private var decided: Int { accepted + rejected + gone + expired }

    /// Members that are still to be sent to.
    package var pending: Int { isDone ? 0 : max(total - decided, waiting) }
}
