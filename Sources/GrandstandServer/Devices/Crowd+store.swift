internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Broadcasts to activities that have a token and no channel, in the tables `activities`, `lanes` and `deliveries`. What a
/// token has is in its activity's row; what it gets next follows from this and from the lane's messages. A lane's row is
/// locked before any of its data changes, as for channels. A lane's lease for its tokens is for one shard.
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
            let ids: [Int] = try await connection.query(
                CrowdJoins.lock(laneClaim, avoiding: claim.avoiding)
            ).map { try $0.decode("id") }
            guard !ids.isEmpty else { return [] }
            return try await Self.take(ids, laneClaim, size: claim.size(of:), on: connection)
        }
    }

    /// Takes the next shards, those first that have waited longest among the most urgent. A message without tokens left
    /// is settled at once.
    private static func take(
        _ ids: [Int], _ claim: LaneClaim, size: (BundleID) -> Int, on connection: PostgresConnection
    ) async throws -> [CrowdShard] {
        let loaded = try LaneRows.lanes(try await connection.pipeline(LaneRows.loadLocked("\(ids)")))
        var lanes = loaded
        var taken: [(lane: Lane, message: LaneMessage)] = []
        var crowds: [Int: [CrowdShard.Member]] = [:]
        let turns = loaded.map { ($0.rank(at: claim.at).rawValue, $0.tokens.waitsSince ?? claim.at) }
        for place in lanes.indices.sorted(by: { turns[$0] < turns[$1] }) where crowds.count < claim.limit {
            let size = size(lanes[place].audience.bundleID)
            if let message = lanes[place].take(claim, to: .tokens, requestID: UUID.drawn), let delivery = message.id {
                guard
                    let members = try await members(
                        for: message, delivery, of: &lanes[place], claim, size: size, on: connection)
                else { continue }
                crowds[lanes[place].id] = members
                taken.append((lanes[place], message))
            } else if let news = try await join(&lanes[place], claim, size: min(size, joinSize), on: connection) {
                crowds[lanes[place].id] = news.members
                taken.append((lanes[place], news.message))
            }
        }
        let statements = LaneRows.write(lanes, loaded: loaded, at: claim.at)
        guard !taken.isEmpty else {
            try await connection.pipeline(statements)
            return []
        }
        let rows = try await connection.pipeline(statements + ClaimedDelivery.reading(taken))
        var shards: [CrowdShard] = []
        for push in try ClaimedDelivery.read(rows, of: taken, by: claim.replica) {
            if push.message.id == nil {
                guard push.body.count <= Contract.DeliveryKind.tokens.bodyLimit else {
                    try await connection.query(CrowdRows.wait(push.lane, where: "a.has < 0"))
                    continue
                }
                try await connection.query(CrowdNews.show(push.message.broadcast))
            }
            shards.append(CrowdShard(push: push, members: crowds[push.lane] ?? []))
        }
        return shards
    }

    /// The tokens of a message's next shard; `nil`: there is none now, and the lane waits or has settled the message.
    private static func members(
        for message: LaneMessage, _ delivery: Int, of lane: inout Lane, _ claim: LaneClaim, size: Int,
        on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member]? {
        if message.tokens == TokenProgress() {
            lane.begin(total: try await CrowdRows.begin(lane.id, on: connection), of: delivery)
        }
        let members = try await CrowdRows.shard(
            of: message, delivery, on: lane.id, size: size, at: claim.at, on: connection)
        guard members.isEmpty else { return members }
        let (rest, due) = try await CrowdRows.rest(of: delivery, on: lane.id, on: connection)
        _ = lane.settle(rest, of: delivery, number: message.attempts, by: claim.replica, again: due, at: claim.at)
        return nil
    }

    /// The maximum number of new tokens in one shard. It is limited, because a message of the lane waits as long as the
    /// shard takes.
    private static let joinSize = 500

    /// The newest content for a lane's new tokens; `nil`: there is nothing to send, or a message of the lane will reach
    /// them.
    private static func join(
        _ lane: inout Lane, _ claim: LaneClaim, size: Int, on connection: PostgresConnection
    ) async throws -> (message: LaneMessage, members: [CrowdShard.Member])? {
        let due: PostgresQuery = "a.due_at <= \(claim.at)"
        guard lane.queue(.tokens).isEmpty else {
            let later = claim.at.addingTimeInterval(CrowdJoins.pause)
            try await connection.query(CrowdRows.wait(lane.id, until: "\(later)", where: due))
            return nil
        }
        guard lane.closedAt == nil, let news = try await CrowdNews.message(of: lane, at: claim.at, on: connection)
        else {
            try await connection.query(CrowdRows.wait(lane.id, where: due))
            return nil
        }
        let members = try await CrowdRows.members("a.has < 0 and \(due)", of: lane.id, size: size, on: connection)
        guard !members.isEmpty, lane.lease(for: claim) else {
            // These tokens waited for a message that has expired or was cancelled.
            try await connection.query(CrowdRows.wait(lane.id, where: "a.has >= 0 and \(due)"))
            return nil
        }
        return (news, members)
    }

    func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await database.query(
            """
            with recursive \(CrowdJoins.waiting)
            select least(
                (select min(tokens_due_at) from lanes where environment = \(environment.rawValue)::environment
                    and tokens_due_at is not null),
                (select min(greatest(j.due_at, l.tokens_leased_until)) from \(CrowdJoins.heads)
                where l.environment = \(environment.rawValue)::environment)) as at
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
            let (message, owner) = (shard.push.message, shard.owner)
            let loaded = try await LaneRows.load("\([owner])", on: connection)
            guard var lane = loaded.first, lane.holds(message.id, number: message.attempts, by: replica) else { return }
            try await connection.query(
                CrowdRows.given(outcomes, of: message.id, rest: intervals.rest, now: now))
            if let delivery = message.id {
                let (rest, due) = try await CrowdRows.rest(of: delivery, on: owner, on: connection)
                let (progress, reason) = CrowdShard.progress(outcomes, rest)
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
