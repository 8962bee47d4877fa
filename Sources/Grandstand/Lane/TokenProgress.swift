/// The progress of a message to the tokens of an audience. The message is sent shard by shard to the tokens that do not
/// have it yet. Which tokens these are is in their rows (`activities.has`), so a crash repeats one shard, which changes
/// nothing on a device because the timestamp is the same.
package struct TokenProgress: Codable, Sendable, Hashable {
    /// The number of tokens when the message began.
    package var total = 0
    /// Tokens whose push APNs answered with 200.
    package var accepted = 0
    /// Tokens whose push APNs refused for good.
    package var rejected = 0
    /// Tokens that are no longer valid.
    package var gone = 0
    /// Tokens for which the message expired before APNs accepted it.
    package var expired = 0
    /// Whether all tokens that are left wait for a later time.
    package var isSwept = false
    /// Tokens that wait: their push must be tried again, or their phones want few pushes and had one recently (they
    /// rest). Known once the message is swept.
    package var waiting = 0
    /// Those of `waiting` that rest and were not sent the message yet.
    package var resting = 0
    /// The last token of the last shard. The next shard begins after it. Otherwise it would read past the index entries
    /// of all tokens that have the message by now, until vacuum can remove them. `nil`: the next shard begins anew.
    package var last: Place?

    /// A token's place in the order of shards.
    package struct Place: Codable, Sendable, Hashable {
        package let has, id: Int

        package init(has: Int, id: Int) { (self.has, self.id) = (has, id) }
    }

    package init() {}

    /// Adds the outcome of a shard, and takes over what is left after it.
    mutating func advance(by shard: TokenProgress) {
        (isSwept, waiting, resting, last) = (shard.isSwept, shard.waiting, shard.resting, shard.last)
        accepted += shard.accepted
        rejected += shard.rejected
        gone += shard.gone
        expired += shard.expired
        // Tokens that came meanwhile count, too.
        total = max(total, decided + waiting)
    }

    /// Whether the outcome of every token is known.
    var isDone: Bool { isSwept && waiting == 0 }

    /// Whether only resting tokens still wait for the message. The message was sent to all others, none of them is tried
    /// again, and APNs accepted at least one push.
    var isDoneButForResting: Bool { resting > 0 && waiting == resting && accepted > 0 }

    /// Counts the resting tokens as expired, because the message expired before it was sent to them.
    mutating func expireResting() {
        expired += resting
        (isSwept, waiting, resting) = (true, 0, 0)
    }

    /// Tokens whose outcome is known.
    private var decided: Int { accepted + rejected + gone + expired }

    /// Tokens that the message must still be sent to.
    package var remaining: Int { isDone ? 0 : max(total - decided, waiting) }
}
