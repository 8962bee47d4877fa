package import APNsWire
package import FoundationEssentials

/// Some pushes to devices that are claimed, sent and settled together.
package protocol PushShard: Sendable {
    associatedtype Member: Sendable, Hashable

    /// Its owner: a run of a start, or a lane.
    var owner: Int { get }
    var address: APNsAddress { get }
    var members: [Member] { get }
    /// A push that cannot be tried again before is refused for good.
    var deadline: Date { get }

    /// The number of the attempt that is to be made for a member.
    func attempt(for member: Member) -> Int

    /// Makes members' requests; their common parts are made once.
    func requests() -> @Sendable (Member) -> DevicePush
}

/// The outcome of one push of a shard.
package struct PushOutcome<Member: Sendable & Hashable>: Sendable, Hashable {
    package var member: Member
    /// When the push was made.
    package var sentAt: Date
    /// `nil`: it was not made.
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

    /// Records the outcomes of a shard's pushes, prunes tokens by the answers, and gives the lease back. A lease that
    /// has gone to another replica changes nothing.
    func settle(
        _ shard: Shard, _ outcomes: [PushOutcome<Shard.Member>], replica: UUID, now: Date
    ) async throws

    /// A replica that is still at work on these owners of shards keeps them until `leasedUntil`.
    func extendLeases(of owners: [Int], replica: UUID, until leasedUntil: Date) async throws

    /// When there will be something due in the environment; `nil`: nothing waits.
    func nextDue(in environment: APNsEnvironment) async throws -> Date?
}

/// The claim of a loop of shards.
package struct ShardClaim: Sendable, Hashable {
    package var environment: APNsEnvironment
    package var replica: UUID
    /// The most owners to lease.
    package var limit: Int
    /// Pushes of one shard at most.
    package var shardSize: Int
    /// The same of apps that APNs throttles.
    package var throttledSizes: [BundleID: Int] = [:]
    package var at: Date
    package var leasedUntil: Date
    /// Leases that ended by then are over. Earlier than `at` when leases could not be extended lately (`LeaseClock`).
    package var leasesOver: Date
    /// Owners whose shards the replica has: no other of its leases was ever handed on. `nil`: it does not say.
    package var holding: [Int]?
    /// Nothing of these apps is claimed: APNs refuses their key.
    package var avoiding: [BundleID]

    package init(
        environment: APNsEnvironment, replica: UUID, limit: Int, shardSize: Int, at: Date, leasedUntil: Date,
        leasesOver: Date? = nil, holding: [Int]? = nil, avoiding: [BundleID] = []
    ) {
        self.environment = environment
        self.replica = replica
        self.limit = limit
        self.shardSize = shardSize
        self.at = at
        self.leasedUntil = leasedUntil
        self.leasesOver = leasesOver ?? at
        self.holding = holding
        self.avoiding = avoiding
    }

    /// Pushes of one shard of this app at most.
    package func size(of bundleID: BundleID) -> Int { min(shardSize, throttledSizes[bundleID] ?? shardSize) }
}
