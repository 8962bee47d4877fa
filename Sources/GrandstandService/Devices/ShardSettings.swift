package import FoundationEssentials

/// How a loop of shards works.
package struct ShardSettings: Sendable {
    /// Pushes of a shard: what a crash can leave without a known outcome, or repeats.
    package var shardSize = 2_000
    /// Shards under way at a time.
    package var places = 4
    /// Seconds until the shards of a dead replica are taken by another. Extended while a shard is under way.
    package var lease: TimeInterval
    /// Seconds for which answers are tried to be recorded that the database refuses. One that is away is waited for.
    package var refusalPatience: TimeInterval = 60
    /// How long a stop waits for shards under way; pushes that were not sent by then go later.
    package var drain: Drain
    /// The longest sleep: then work is found whose signal was lost.
    package var pollInterval: Duration = .seconds(1)

    package init(lease: TimeInterval, drain: Drain) {
        self.lease = lease
        self.drain = drain
    }
}
