internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Broadcasts to activities that have a token and no channel, in the tables `activities`, `lanes` and `deliveries`. What a
/// token has is in its activity's row; what it gets next follows from this and from the lane's messages. A lane's row is
/// locked before any of its data changes, as for channels. A lane's lease is for one shard.
struct CrowdStore: ShardStore {
    let database: Database
    let intervals: Intervals

    struct Intervals: Sendable {
        /// Seconds between two messages of one lane.
        var lane: TimeInterval
        /// Seconds between two pushes to a phone whose owner switched frequent pushes off.
        var rest: TimeInterval
    }

    // MARK: Claims

    func claim(_ claim: ShardClaim) async throws -> [CrowdShard] {
        let now = claim.at.inMicroseconds
        let laneClaim = LaneClaim(
            environment: claim.environment, limit: claim.limit, replica: claim.replica, at: now,
            leasedUntil: claim.leasedUntil, laneInterval: intervals.lane)
        return try await database.transaction { connection in
            let due: [Int] = try await connection.query(
                """
                select id from lanes where environment = \(claim.environment.rawValue)::environment
                    and shard_due_at <= \(now) and bundle_id <> all(\(claim.avoiding.map(\.rawValue)))
                order by rank, shard_due_at limit \(claim.limit) for no key update skip locked
                """
            ).map { try $0.decode("id") }
            var places = laneClaim
            places.limit -= due.count
            // A lane may be among both: the lease of a shard for new tokens ended without a settlement.
            let called: [Int] = try await connection.query(
                CrowdJoins.lock(places, avoiding: claim.avoiding)
            ).map { try $0.decode("id") }
            guard !due.isEmpty || !called.isEmpty else { return [] }
            return try await Self.take(due, calling: called, laneClaim, size: claim.size(of:), on: connection)
        }
    }

    /// Takes the next shard of each lane; a message without members left is settled at once.
    ///
    /// - Parameter called: lanes with members that are due, whatever the lane waits for.
    private static func take(
        _ due: [Int], calling called: [Int], _ claim: LaneClaim, size: (BundleID) -> Int,
        on connection: PostgresConnection
    ) async throws -> [CrowdShard] {
        // An acceptance or withdrawal locks all lanes of an audience. So while the crowd's lane is locked, the lead of
        // the crowd's lane does not change.
        let leads = called.isEmpty ? [:] : try await CrowdJoins.leads(of: called, on: connection)
        let claimed = due + called.filter { !due.contains($0) }
        let ids = Set(claimed).union(leads.values).sorted()
        let loaded = try LaneRows.lanes(try await connection.pipeline(LaneRows.loadLocked("\(ids)")))
        var lanes = loaded
        let places = Dictionary(uniqueKeysWithValues: zip(lanes.lazy.map(\.id), lanes.indices))
        var outgoing = Outgoing()
        var crowds: [Int: [CrowdShard.Member]] = [:]
        var shards: [CrowdShard] = []
        for lane in claimed {
            guard let place = places[lane] else { continue }
            let size = size(lanes[place].audience.bundleID)
            if called.contains(lane) { lanes[place].resume() }
            if let message = lanes[place].take(claim, requestID: UUID.drawn), let delivery = message.id {
                crowds[lane] = try await members(
                    for: message, delivery, of: &lanes[place], claim, size: size, on: connection)
                if crowds[lane] != nil { outgoing.add(message, of: lanes[place]) }
            } else if called.contains(lane) {
                let lead = leads[lane].flatMap { places[$0] }.map { lanes[$0] }
                let shard = try await join(&lanes[place], lead, claim, size: min(size, joinSize), on: connection)
                if let shard { shards.append(shard) }
            }
        }
        let locked = claimed.compactMap { places[$0] }
        let statements = LaneRows.write(locked.map { lanes[$0] }, loaded: locked.map { loaded[$0] }, at: claim.at)
        guard !outgoing.isEmpty else {
            try await connection.pipeline(statements)
            return shards
        }
        let rows = try await connection.pipeline(statements + [outgoing.contents, outgoing.destinations])
        return try shards
            + outgoing.pushes(
                contents: try Outgoing.contents(rows[rows.count - 2]), destinations: rows[rows.count - 1]
            ).compactMap { push in
                crowds[push.lane].map { members in
                    CrowdShard(
                        delivery: push.delivery, lane: push.lane, address: push.address,
                        requestID: push.message.requestID, body: push.body,
                        priority: push.message.priority, rings: push.message.alerting,
                        expiration: push.message.apnsExpiration, number: push.message.attempts,
                        expiresAt: push.message.expiresAt, members: members)
                }
            }
    }

    /// The members of a message's next shard; `nil`: there is none now, and the lane waits or has settled the message.
    private static func members(
        for message: LaneMessage, _ delivery: Int, of lane: inout Lane, _ claim: LaneClaim, size: Int,
        on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member]? {
        if message.fanOut == FanOut() {
            lane.begin(FanOut(total: try await CrowdRows.begin(lane.id, on: connection)), of: delivery)
        }
        let members = try await CrowdRows.shard(
            of: delivery, rings: message.alerting, on: lane.id, size: size, at: claim.at, on: connection)
        guard members.isEmpty else { return members }
        let (rest, due) = try await CrowdRows.rest(of: delivery, on: lane.id, on: connection)
        _ = lane.settle(
            FanOut.Progress(rest), of: delivery, number: message.attempts, by: claim.replica, again: due ?? claim.at,
            at: claim.at)
        return nil
    }

    /// The maximum number of newcomers in one shard. It is limited, because a message of the lane waits as long as the
    /// shard takes.
    private static let joinSize = 500

    /// The shard of a lane's members that joined with a new token; `nil`: there is nothing to send, or a message of the
    /// lane will reach them.
    ///
    /// - Parameter lead: the lead of the lane's audience; `nil`: the audience was removed.
    private static func join(
        _ lane: inout Lane, _ lead: Lane?, _ claim: LaneClaim, size: Int, on connection: PostgresConnection
    ) async throws -> CrowdShard? {
        let due: PostgresQuery = "a.due_at <= \(claim.at)"
        guard lane.head == nil else {
            let later = claim.at.addingTimeInterval(CrowdJoins.pause)
            try await connection.query(CrowdRows.wait(lane.id, until: "\(later)", where: due))
            return nil
        }
        guard let lead, lane.closedAt == nil,
            let news = try await CrowdNews.read(lane: lane, lead: lead, now: claim.at, on: connection)
        else {
            try await connection.query(CrowdRows.wait(lane.id, where: due))
            return nil
        }
        let members = try await CrowdRows.members("a.has < 0 and \(due)", of: lane.id, size: size, on: connection)
        guard !members.isEmpty, lane.lease(for: claim) else {
            // These members waited for a message that has expired or was cancelled.
            try await connection.query(CrowdRows.wait(lane.id, where: "a.has >= 0 and \(due)"))
            return nil
        }
        try await connection.query(CrowdNews.show(news.broadcast))
        return CrowdShard(
            delivery: nil, lane: lane.id, address: news.address, requestID: .drawn(), body: news.body,
            priority: news.priority, rings: false,
            expiration: Int(news.expiresAt.timeIntervalSince1970.rounded(.up)), number: 0, expiresAt: news.expiresAt,
            members: members)
    }

    func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await database.query(
            """
            with recursive \(CrowdJoins.waiting)
            select least(
                (select min(shard_due_at) from lanes where environment = \(environment.rawValue)::environment
                    and shard_due_at is not null),
                (select min(greatest(j.due_at, l.leased_until)) from \(CrowdJoins.heads)
                where l.environment = \(environment.rawValue)::environment)) as at
            """
        ).first?.decode(Date?.self, "at")
    }

    func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws {
        try await LaneRows.extendLeases(of: lanes, replica: replica, until: leasedUntil, in: database)
    }

    // MARK: Settling

    /// Records the results of tokens and of the message in one transaction. It locks activities before the lane, as
    /// reports do.
    func settle(
        _ shard: CrowdShard, _ outcomes: [PushOutcome<CrowdShard.Member>], replica: UUID, now: Date
    ) async throws {
        let now = now.inMicroseconds
        let care = TokenCare(
            outcomes.compactMap { outcome in
                outcome.verdict.map {
                    TokenCare.Answer(
                        owner: outcome.member.activity, token: outcome.member.token, sentAt: outcome.sentAt, verdict: $0
                    )
                }
            })
        try await database.transaction { connection in
            try await connection.pipeline(
                care.pruning(.activities, besides: outcomes.map(\.member.activity), now: now))
            let loaded = try LaneRows.lanes(try await connection.pipeline(LaneRows.load("\([shard.lane])")))
            guard var lane = loaded.first, lane.holds(shard.delivery, number: shard.number, by: replica) else { return }
            try await connection.query(
                CrowdRows.given(outcomes, of: shard.delivery, rest: intervals.rest, now: now))
            if let delivery = shard.delivery {
                let (rest, due) = try await CrowdRows.rest(of: delivery, on: shard.lane, on: connection)
                _ = lane.settle(
                    CrowdShard.progress(outcomes, rest), of: delivery, number: shard.number, by: replica,
                    again: due ?? now, at: now)
            } else {
                lane.release(by: replica, at: now)
            }
            try await connection.pipeline(LaneRows.write([lane], loaded: loaded, at: now))
        }
    }
}
