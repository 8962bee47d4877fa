internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The stores including that of crowds, and activities as apps report them.
struct CrowdWorld: Sendable {
    let stores: StoreWorld
    let crowds: CrowdStore

    init(_ stores: StoreWorld) {
        self.stores = stores
        crowds = CrowdStore(database: Database(stores.pool), laneInterval: 1, rest: 60)
    }

    var now: Date { stores.now }

    /// Reports an activity with a token and no channel.
    ///
    /// - Parameter variant: the variant of the audience that was chosen for the activity; `""`: the audience has no
    ///   variant.
    /// - Returns: the activity's number.
    @discardableResult
    func show(
        _ token: String, of key: String = "match-1", frequent: Bool = true, variant: String = ""
    ) async throws -> Int {
        let installation = try await stores.install(frequent: frequent)
        let activity = try await stores.count(
            """
            insert into activities (installation, activity, app, event_key, attributes_type, state, update_token,
                registered_at, reported_at, variant)
            select id, 'one', app, \(key), 'MatchAttributes', 'active', decode(\(token), 'hex'), \(now), \(now), \(variant)
            from installations where id = \(installation) returning id as n
            """)
        try await stores.pool.withConnection { try await join(activity, on: $0) }
        // If there is no content yet, the dispatcher's loop lets the activity wait for the first message at once.
        try await stores.pool.query(
            """
            update activities a set due_at = null from crowds c join audiences l using (lane)
            where c.event_key = a.event_key and c.app = a.app and c.variant = a.variant and l.newest_broadcast is null
            """)
        return activity
    }

    /// Lets an activity get the newest content, with a new token if one is given, as its report does.
    func join(_ activity: Int, token: String? = nil, on connection: PostgresConnection) async throws {
        if let token {
            try await connection.query(
                "update activities set update_token = decode(\(token), 'hex') where id = \(activity)")
        }
        try await connection.query(CrowdJoins.queue("\([activity])", now: now))
    }

    func claim(
        size: Int = 100, by replica: UUID? = nil, lease: TimeInterval = 10, limit: Int = 10,
        avoiding: [BundleID] = []
    ) async throws -> [CrowdShard] {
        try await crowds.claim(
            ShardClaim(
                environment: .production, replica: replica ?? stores.replica, limit: limit, shardSize: size, at: now,
                leasedUntil: now.addingTimeInterval(lease), leasesEndedBefore: now, avoiding: avoiding))
    }

    func settle(
        _ shard: CrowdShard, by replica: UUID? = nil,
        _ verdict: (CrowdShard.Member) -> TokenVerdict? = { _ in .accepted }
    ) async throws {
        let outcomes = shard.members.map { PushOutcome(member: $0, sentAt: now, verdict: verdict($0)) }
        try await crowds.settle(shard, outcomes, replica: replica ?? stores.replica, now: now)
    }

    /// The number of activities that are due at a time.
    func waiting() async throws -> Int { try await stores.rows("activities where in_crowd and due_at is not null") }

    /// Changes how the event's only audience is reached: by tokens or by a channel.
    func reach(by delivery: Audience.Delivery, _ key: String = "match-1") async throws {
        var audience = try Audience.sample()
        audience.delivery = delivery
        try await stores.put(.sample(key, audiences: [audience]))
    }

    /// The delivery of a broadcast to tokens.
    func tokens(of broadcast: Contract.Broadcast) async throws -> Contract.Delivery {
        let found = try #require(try await stores.read(broadcast))
        return try #require(found.deliveries.first { $0.counts != nil })
    }

    /// Claims shards and settles all their pushes as accepted.
    func sendAll() async throws {
        for shard in try await claim() { try await settle(shard) }
    }
}

extension CrowdShard {
    /// The body as text.
    var text: String { String(decoding: push.body, as: UTF8.self) }
}

/// Runs a test with the store of crowds on its own database.
func withCrowds(_ body: (CrowdWorld) async throws -> Void) async throws {
    try await withStores { try await body(CrowdWorld($0)) }
}
