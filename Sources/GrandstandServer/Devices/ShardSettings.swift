internal import FoundationEssentials

/// The settings of a loop that sends shards.
struct ShardSettings: Sendable {
    /// The number of pushes in a shard. After a crash, at most this many pushes have an unknown result or are repeated.
    var shardSize = 2_000
    /// The maximum number of shards in progress at a time.
    var places = 4
    /// Seconds until another replica takes the shards of a replica that died. The lease is extended while a shard is in
    /// progress.
    var lease: TimeInterval
    /// Seconds for which recording is tried again if the database refuses the answers. If the database is away, there
    /// is no limit.
    var refusalRetryLimit: TimeInterval = 60
    /// How long a stop waits for shards in progress. Pushes that were not sent before the end of the drain are sent
    /// later.
    var drain: Drain
    /// The longest sleep. The poll after this sleep finds work whose signal was lost.
    var pollInterval: Duration = .seconds(1)
}
