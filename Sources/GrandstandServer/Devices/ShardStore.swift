internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// The store that gives shards out and records their outcomes.
protocol ShardStore<Shard>: Sendable {
    associatedtype Shard: PushShard

    /// Leases the owners that are due in an environment, and takes the next shard of each.
    func claim(_ claim: ShardClaim) async throws -> [Shard]

    /// Records the outcomes of a shard's pushes, removes tokens as the answers require, and releases the lease. Nothing
    /// changes if another replica has the lease by now.
    func settle(
        _ shard: Shard, _ outcomes: [PushOutcome<Shard.Member>], replica: UUID, now: Date
    ) async throws

    /// Extends a replica's leases of these owners to `leasedUntil`, because the replica still works on them.
    func extendLeases(of owners: [Int], replica: UUID, until leasedUntil: Date) async throws

    /// When the next shard in the environment is due; `nil`: none waits.
    func nextDue(in environment: APNsEnvironment) async throws -> Date?
}

/// The parameters of a claim of shards.
struct ShardClaim: Sendable, Hashable {
    var environment: APNsEnvironment
    var replica: UUID
    /// The most owners to lease.
    var limit: Int
    /// The most pushes of one shard.
    var shardSize: Int
    /// The most pushes of one shard, for apps that APNs throttles: those that the app may send in about a second.
    var throttledSizes: [BundleID: Int] = [:]
    var at: Date
    var leasedUntil: Date
    /// Leases that end at or before this time are over. It is earlier than `at` if leases could not be extended
    /// recently.
    var leasesEndedBefore: Date
    /// Owners whose shards the replica has, an owner of two shards twice. If the database has a lease of this replica for an owner that is not in
    /// this list, the answer to the claim of this owner was lost. The owner may therefore be claimed again. `nil`: not
    /// known.
    var holding: [Int]?
    /// Apps whose key APNs refuses. None of their shards is claimed.
    var avoiding: [BundleID] = []

    /// The most pushes of one shard of this app.
    func size(of bundleID: BundleID) -> Int { min(shardSize, throttledSizes[bundleID] ?? shardSize) }
}
