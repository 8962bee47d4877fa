/// How far a message has got that goes to many tokens instead of to one channel: shard by shard, in order of the members'
/// numbers. No token has a row of its own; a crash repeats one shard, which changes nothing on a device, for the
/// timestamp is the same.
package struct FanOut: Sendable, Hashable {
    /// Members up to this number were sent to, or are to be tried `again`.
    package var cursor: Int
    /// No member is beyond the cursor.
    package var isSwept: Bool
    /// Members up to the cursor whose pushes APNs did not answer or did not take yet.
    package var again: [Int]
    /// Rounds that were made for those of `again` alone: the pause before the next grows with them.
    package var tries: Int
    /// Members there were when it began.
    package var total: Int
    /// APNs said 200.
    package var accepted: Int
    /// Refused for good.
    package var rejected: Int
    /// Their tokens were no good any more.
    package var gone: Int
    /// Their time ran out before APNs took it.
    package var expired: Int

    package init(
        cursor: Int = 0, isSwept: Bool = false, again: [Int] = [], tries: Int = 0, total: Int = 0,
        accepted: Int = 0, rejected: Int = 0, gone: Int = 0, expired: Int = 0
    ) {
        self.cursor = cursor
        self.isSwept = isSwept
        self.again = again
        self.tries = tries
        self.total = total
        self.accepted = accepted
        self.rejected = rejected
        self.gone = gone
        self.expired = expired
    }

    /// The outcome of a shard.
    package struct Progress: Sendable, Hashable {
        /// The highest number that was looked at; `nil`: the shard were members to be tried again.
        package var cursor: Int?
        /// No member is beyond it.
        package var isSwept: Bool
        package var again: [Int]
        package var accepted: Int
        package var rejected: Int
        package var gone: Int
        package var expired: Int
        /// Why some of it went wrong: the reason there were most of.
        package var reason: String?

        package init(
            cursor: Int?, isSwept: Bool, again: [Int] = [], accepted: Int = 0, rejected: Int = 0, gone: Int = 0,
            expired: Int = 0, reason: String? = nil
        ) {
            self.cursor = cursor
            self.isSwept = isSwept
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
        /// These once more.
        case again([Int])
    }

    /// So many wait to be tried again at most: before they are sent to, no member beyond the cursor is.
    package static let mostWaiting = 2_000

    package var next: Next { isSwept || again.count >= Self.mostWaiting ? .again(again) : .after(cursor) }

    package mutating func advance(by progress: Progress) {
        if let cursor = progress.cursor {
            self.cursor = max(self.cursor, cursor)
            isSwept = isSwept || progress.isSwept
            again += progress.again
        } else {
            // They were all of `again`.
            again = progress.again
            tries = again.isEmpty ? 0 : tries + 1
        }
        accepted += progress.accepted
        rejected += progress.rejected
        gone += progress.gone
        expired += progress.expired
        // Members that came while it was under way are reached, too.
        total = max(total, decided + again.count)
    }

    /// All members were sent to.
    package var isDone: Bool { isSwept && again.isEmpty }

    /// Members whose outcome is known.
    private var decided: Int { accepted + rejected + gone + expired }

    /// Members that are still to be sent to.
    package var pending: Int { isDone ? 0 : max(total - decided, again.count) }
}
