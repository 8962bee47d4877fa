/// The progress of a message to many tokens. The message is sent shard by shard to the members of the crowd that do not
/// have it yet. Which members these are is in their rows (`activities.has`), so a crash repeats one shard, which changes
/// nothing on a device because the timestamp is the same.
package struct FanOut: Codable, Sendable, Hashable {
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
    /// What is left.
    package var rest: Rest

    package init(
        total: Int = 0, accepted: Int = 0, rejected: Int = 0, gone: Int = 0, expired: Int = 0, rest: Rest = Rest()
    ) {
        self.total = total
        self.accepted = accepted
        self.rejected = rejected
        self.gone = gone
        self.expired = expired
        self.rest = rest
    }

    /// The members that do not have the message yet.
    package struct Rest: Codable, Sendable, Hashable {
        /// Whether all that are left wait for a later time.
        package var isSwept: Bool
        /// Members that wait: their push must be tried again, or they want few pushes and had one recently (they rest).
        /// Known once the message is swept.
        package var waiting: Int
        /// Those of `waiting` that rest and were not sent the message yet.
        package var resting: Int

        package init(isSwept: Bool = false, waiting: Int = 0, resting: Int = 0) {
            self.isSwept = isSwept
            self.waiting = waiting
            self.resting = resting
        }
    }

    /// The outcome of a shard.
    package struct Progress: Sendable, Hashable {
        /// What is left after the shard.
        package var rest: Rest
        package var accepted: Int
        package var rejected: Int
        package var gone: Int
        package var expired: Int
        /// The most frequent reason of failures.
        package var reason: String?

        package init(
            _ rest: Rest = Rest(), accepted: Int = 0, rejected: Int = 0, gone: Int = 0, expired: Int = 0,
            reason: String? = nil
        ) {
            self.rest = rest
            self.accepted = accepted
            self.rejected = rejected
            self.gone = gone
            self.expired = expired
            self.reason = reason
        }
    }

    package mutating func advance(by progress: Progress) {
        rest = progress.rest
        accepted += progress.accepted
        rejected += progress.rejected
        gone += progress.gone
        expired += progress.expired
        // Members that joined meanwhile count, too.
        total = max(total, decided + rest.waiting)
    }

    /// Whether the outcome of every member is known.
    package var isDone: Bool { rest.isSwept && rest.waiting == 0 }

    /// Whether only resting members still wait for the message. The message was sent to all other members, none of them
    /// is tried again, and APNs accepted at least one push.
    package var isDoneButForResting: Bool { rest.resting > 0 && rest.waiting == rest.resting && accepted > 0 }

    /// Counts the resting members as expired, because the message expired before it was sent to them.
    mutating func expireResting() {
        expired += rest.resting
        rest = Rest(isSwept: true)
    }

    /// Members whose outcome is known.
    private var decided: Int { accepted + rejected + gone + expired }

    /// Members that the message must still be sent to.
    package var pending: Int { isDone ? 0 : max(total - decided, rest.waiting) }
}
