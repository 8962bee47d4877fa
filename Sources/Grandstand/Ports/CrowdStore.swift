/// The durable way of broadcasts to activities that have a token and no channel: due lanes of crowds, shard by shard. What
/// becomes of a lane is `Lane`'s, as it is for channels.
package protocol CrowdStore: ShardStore where Shard == CrowdShard {}
