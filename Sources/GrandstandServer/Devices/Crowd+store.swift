internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Broadcasts to activities that have a token and no channel, in the tables `activities`, `audiences` and `deliveries`. What a
/// token has is in its activity's row; what it gets next follows from this and from the lane's messages. A lane's row is
/// locked before any of its data changes, as for channels. A lane's lease for its tokens is for one shard.
struct CrowdStore: ShardStore {
    let database: Database
    /// Seconds between two messages of one lane.
    let laneInterval: TimeInterval
    /// Seconds between two pushes to a phone whose owner switched frequent pushes off.
    let rest: TimeInterval

    // MARK: Claims

    func claim(_ claim: ShardClaim) async throws -> [CrowdShard] {
        let lanes = LaneClaim(
            environment: claim.environment, limit: claim.limit, replica: claim.replica, at: claim.at.inMicroseconds,
            leasedUntil: claim.leasedUntil, laneInterval: laneInterval)
        return try await database.transaction { connection in
            let due = try await connection.query(CrowdJoins.lock(lanes, avoiding: claim.avoiding))
            guard !due.isEmpty else { return [] }
            let ids: [Int] = try due.map { try $0.decode("lane") }
            return try await Self.take(ids, lanes, size: claim.size(of:), on: connection)
        }
    }

    /// Takes the next shards, those first that have waited longest among the most urgent.
    private static func take(
        _ ids: [Int], _ claim: LaneClaim, size: (BundleID) -> Int, on connection: PostgresConnection
    ) async throws -> [CrowdShard] {
        let loaded = try LaneRows.lanes(try await connection.pipeline(LaneRows.loadLocked("\(ids)")))
        var lanes = loaded
        var taken: [(lane: Lane, message: LaneMessage)] = []
        var crowds: [Int: [CrowdShard.Member]] = [:]
        let turns = loaded.map { ($0.rank(at: claim.at).rawValue, $0[.tokens].waitsSince ?? claim.at) }
        for place in lanes.indices.sorted(by: { turns[$0] < turns[$1] }) where taken.count < claim.limit {
            let size = size(lanes[place].audience.bundleID)
            let next = try await next(of: &lanes[place], claim, size: size, on: connection)
            guard let (message, members) = next else { continue }
            taken.append((lanes[place], message))
            crowds[lanes[place].id] = members
        }
        let rows = try await connection.pipeline(
            LaneRows.write(lanes, loaded: loaded, at: claim.at) + ClaimedDelivery.reading(taken))
        var shards: [CrowdShard] = []
        for push in try ClaimedDelivery.read(rows, of: taken, by: claim.replica) {
            if push.message.id == nil {
                guard push.body.count <= Contract.DeliveryKind.tokens.bodyLimit else {
                    try await CrowdRows(lane: push.lane, connection: connection).wait(where: "a.has < 0")
                    continue
                }
                try await connection.query(CrowdNews.show(push.message.broadcast))
            }
            shards.append(CrowdShard(push: push, members: crowds[push.lane] ?? []))
        }
        return shards
    }

    /// What a lane sends now, and to whom: the next shard of its message, or the newest content to new tokens. A message
    /// without tokens left is settled at once.
    private static func next(
        of lane: inout Lane, _ claim: LaneClaim, size: Int, on connection: PostgresConnection
    ) async throws -> (LaneMessage, [CrowdShard.Member])? {
        guard let message = lane.take(claim, to: .tokens, requestID: UUID.drawn), let delivery = message.id else {
            return try await news(of: &lane, claim, size: min(size, joinSize), on: connection)
        }
        let crowd = CrowdRows(lane: lane.id, connection: connection)
        if message.tokens == TokenProgress() { lane.begin(total: try await crowd.begin(), of: delivery) }
        let members = try await crowd.shard(of: message, delivery, size: size, at: claim.at)
        guard members.isEmpty else { return (message, members) }
        let (rest, due) = try await crowd.rest(of: delivery)
        _ = lane.settle(rest, of: delivery, number: message.attempts, by: claim.replica, again: due, at: claim.at)
        return nil
    }

    /// The maximum number of new tokens in one shard. It is limited, because a message of the lane waits as long as the
    /// shard takes.
    private static let joinSize = 500

    /// The newest content for a lane's new tokens; `nil`: there is nothing to send, or a message of the lane will reach
    /// them.
    private static func news(
        of lane: inout Lane, _ claim: LaneClaim, size: Int, on connection: PostgresConnection
    ) async throws -> (LaneMessage, [CrowdShard.Member])? {
        let crowd = CrowdRows(lane: lane.id, connection: connection)
        var due: PostgresQuery = "a.due_at <= \(claim.at)"
        var again: Date?
        if !lane.queue(.tokens).isEmpty {
            again = claim.at.addingTimeInterval(CrowdJoins.pause)
        } else if lane.closedAt == nil, let news = try await CrowdNews.message(of: lane, at: claim.at, on: connection) {
            let members = try await crowd.members("a.has < 0 and \(due)", size: size)
            if !members.isEmpty, lane.lease(for: claim) { return (news, members) }
            // Other tokens waited for a message that has expired or was cancelled.
            due = "a.has >= 0 and \(due)"
        }
        try await crowd.wait(until: "\(again)", where: due)
        return nil
    }

    func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await database.query(
            """
            with recursive \(CrowdJoins.waiting)
            select least(
                (select min(tokens_due_at) from audiences where environment = \(environment.rawValue)::environment
                    and tokens_due_at is not null),
                (select min(greatest(j.due_at, u.tokens_leased_until)) from \(CrowdJoins.heads)
                where u.environment = \(environment.rawValue)::environment)) as at
            """
        ).first?.decode(Date?.self, "at")
    }

    func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws {
        try await LaneRows.extendLeases(.tokens, of: lanes, replica: replica, until: leasedUntil, in: database)
    }

    // MARK: Settling

    /// Records the results of tokens and of the message in one transaction. It locks activities before the lane, as
    /// reports do.
    func settle(
        _ shard: CrowdShard, _ outcomes: [PushOutcome<CrowdShard.Member>], replica: UUID, now: Date
    ) async throws {
        let now = now.inMicroseconds
        try await database.transaction { connection in
            try await connection.pipeline(TokenCare(outcomes, at: now).activities())
            let (message, owner) = (shard.push.message, shard.owner)
            let loaded = try await LaneRows.load("\([owner])", on: connection)
            guard var lane = loaded.first, lane.holds(message.id, number: message.attempts, by: replica) else { return }
            let crowd = CrowdRows(lane: owner, connection: connection)
            try await crowd.record(outcomes, of: message.id, rest: rest, now: now)
            if let delivery = message.id {
                let (left, due) = try await crowd.rest(of: delivery)
                let (progress, reason) = CrowdShard.progress(outcomes, left)
                _ = lane.settle(
                    progress, reason: reason, of: delivery, number: message.attempts, by: replica, again: due,
                    at: now)
            } else {
                lane.release(by: replica, at: now)
            }
            try await connection.pipeline(LaneRows.write([lane], loaded: loaded, at: now))
        }
    }
}
