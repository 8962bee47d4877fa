package import APNsWire
package import FoundationEssentials

/// Some pushes to devices that are claimed, sent and settled together.
package protocol PushShard: Sendable {
    associatedtype Member: Sendable, Hashable

    /// Its owner: a run of a start, or a lane.
    var owner: Int { get }
    var address: APNsAddress { get }
    var members: [Member] { get }
    /// A push expires if its next attempt would be later than this.
    var deadline: Date { get }

    /// The number of the next attempt for a member.
    func attempt(for member: Member) -> Int

    /// A function that makes the request for a member. The parts that requests have in common are made once.
    func requests() -> @Sendable (Member) -> DevicePush
}

/// The outcome of one push of a shard.
package struct PushOutcome<Member: Sendable & Hashable>: Sendable, Hashable {
    package var member: Member
    /// When the push was made.
    package var sentAt: Date
    /// The consequence of APNs' answer; `nil`: the push was not made.
    package var verdict: TokenVerdict?

    package init(member: Member, sentAt: Date, verdict: TokenVerdict?) {
        self.member = member
        self.sentAt = sentAt
        self.verdict = verdict
    }
}

/// The store that gives shards out and records their outcomes.
package protocol ShardStore<Shard>: Sendable {
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
package struct ShardClaim: Sendable, Hashable {
    package var environment: APNsEnvironment
    package var replica: UUID
    /// The most owners to lease.
    package var limit: Int
    /// The most pushes of one shard.
    package var shardSize: Int
    /// The most pushes of one shard, for apps that APNs throttles: those that the app may send in about a second.
    package var throttledSizes: [BundleID: Int] = [:]
    package var at: Date
    package var leasedUntil: Date
    /// Leases that end at or before this time are over. It is earlier than `at` if leases could not be extended
    /// recently (`LeaseClock`).
    package var leasesEndedBefore: Date
    /// Owners whose shards the replica has. If the database has a lease of this replica for an owner that is not in
    /// this list, the answer to the claim of this owner was lost. The owner may therefore be claimed again. `nil`: not
    /// known.
    package var holding: [Int]?
    /// Apps whose key APNs refuses. None of their shards is claimed.
    package var avoiding: [BundleID]

    package init(
        environment: APNsEnvironment, replica: UUID, limit: Int, shardSize: Int, at: Date, leasedUntil: Date,
        leasesEndedBefore: Date? = nil, holding: [Int]? = nil, avoiding: [BundleID] = []
    ) {
        self.environment = environment
        self.replica = replica
        self.limit = limit
        self.shardSize = shardSize
        self.at = at
        self.leasedUntil = leasedUntil
        self.leasesEndedBefore = leasesEndedBefore ?? at
        self.holding = holding
        self.avoiding = avoiding
    }

    /// The most pushes of one shard of this app.
    package func size(of bundleID: BundleID) -> Int { min(shardSize, throttledSizes[bundleID] ?? shardSize) }
}
