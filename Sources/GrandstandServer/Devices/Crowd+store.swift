internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Broadcasts to activities that have a token and no channel, in the tables `fan_outs`, `fan_out_queue`, `activities`,
/// `lanes` and `deliveries`. A lane's row is locked before any of its data changes, as for channels. A lane's lease is
/// for one shard.
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
        let shards = try await database.transaction { connection in
            let due: [Int] = try await connection.query(
                """
                select id from lanes where environment = \(claim.environment.rawValue)::environment
                    and shard_due_at <= \(now) and bundle_id <> all(\(claim.avoiding.map(\.rawValue)))
                order by rank, shard_due_at limit \(claim.limit) for no key update skip locked
                """
            ).map { try $0.decode("id") }
            guard !due.isEmpty else { return [CrowdShard]() }
            return try await Self.take(due, laneClaim, size: claim.size(of:), on: connection)
        }
        let places = claim.limit - shards.count
        guard places > 0 else { return shards }
        var joinClaim = laneClaim
        joinClaim.limit = places
        do {
            return shards + (try await joins(joinClaim, size: claim.size(of:), avoiding: claim.avoiding))
        } catch  where !shards.isEmpty {
            // The shards that are leased already are returned, so that they are sent before their lease ends.
            return shards
        }
    }

    /// Takes the next shard of each lane; a message without members left is settled at once.
    private static func take(
        _ ids: [Int], _ claim: LaneClaim, size: (BundleID) -> Int, on connection: PostgresConnection
    ) async throws -> [CrowdShard] {
        let loaded = try LaneRows.lanes(try await connection.pipeline(LaneRows.loadLocked("\(ids)")))
        var lanes = loaded
        var outgoing = Outgoing()
        var crowds: [Int: CrowdRows.Shard] = [:]
        for index in lanes.indices {
            guard let message = lanes[index].take(claim, requestID: UUID.drawn), let delivery = message.id,
                var fanOut = message.fanOut
            else { continue }
            let lane = lanes[index].id
            if fanOut == FanOut() {
                fanOut.total = try await CrowdRows.count(lane, on: connection)
                lanes[index].begin(fanOut, of: delivery)
                try await connection.query(CrowdWaits.forget(before: delivery, on: lane))
            }
            let shard = try await members(
                for: delivery, fanOut.next, rings: message.alerting, of: lane,
                size: size(lanes[index].audience.bundleID), at: claim.at, on: connection)
            if shard.members.isEmpty {
                let next = try await CrowdWaits.nextDue(of: delivery, on: lane, besides: [], on: connection)
                _ = lanes[index].settle(
                    FanOut.Progress(shard.step), of: delivery, number: message.attempts, by: claim.replica,
                    again: next ?? claim.at, at: claim.at)
            } else {
                crowds[lane] = shard
                outgoing.add(message, of: lanes[index])
            }
        }
        let statements = LaneRows.write(lanes, loaded: loaded, at: claim.at)
        guard !outgoing.isEmpty else {
            try await connection.pipeline(statements)
            return []
        }
        let rows = try await connection.pipeline(statements + [outgoing.contents, outgoing.destinations])
        return try outgoing.pushes(
            contents: try Outgoing.contents(rows[rows.count - 2]), destinations: rows[rows.count - 1]
        ).compactMap { push in
            crowds[push.lane].map { crowd in
                CrowdShard(
                    delivery: push.delivery, lane: push.lane, address: push.address,
                    requestID: push.message.requestID, body: push.body,
                    priority: push.message.priority, rings: push.message.alerting,
                    expiration: push.message.apnsExpiration, number: push.message.attempts,
                    expiresAt: push.message.expiresAt, members: crowd.members, step: crowd.step)
            }
        }
    }

    /// The members of a message's next shard: first members of the message's sweep, then members of its queue.
    private static func members(
        for delivery: Int, _ next: FanOut.Next, rings: Bool, of lane: Int, size: Int, at now: Date,
        on connection: PostgresConnection
    ) async throws -> CrowdRows.Shard {
        guard case .after(let cursor) = next else {
            return try await CrowdWaits.shard(of: delivery, on: lane, size: size, at: now, on: connection)
        }
        let shard = try await CrowdRows.sweep(
            lane, beyond: cursor, rings: rings, size: size, at: now, on: connection)
        if !shard.members.isEmpty { try await CrowdJoins.reach(shard.members, of: lane, on: connection) }
        if !shard.resting.isEmpty {
            try await connection.query(
                CrowdWaits.queue(
                    shard.resting.map { ($0.activity, 0, $0.until) }, for: delivery, on: lane))
        }
        return shard
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
        let rests = resting(outcomes)
        guard let delivery = shard.delivery else {
            // The outcomes are recorded before the lane's lease is released, so that the same members are not taken
            // once more.
            try await settle(
                care,
                [
                    CrowdJoins.lock(outcomes.map(\.member), of: shard.lane),
                    CrowdJoins.joined(Self.members(outcomes, decided: true), of: shard.lane),
                    CrowdJoins.postponed(Self.members(outcomes, decided: false), of: shard.lane, now: now),
                ], rests, now: now)
            return try await database.transaction { connection in
                try await LaneRows.change("\([shard.lane])", at: now, on: connection) {
                    $0.release(by: replica, at: now)
                }
            }
        }
        try await settle(shard, outcomes, of: delivery, replica: replica, now: now)
        try await settle(care, [], rests, now: now)
    }

    /// Records the outcome of a message's shard, and the members that still wait for the message.
    private func settle(
        _ shard: CrowdShard, _ outcomes: [PushOutcome<CrowdShard.Member>], of delivery: Int, replica: UUID, now: Date
    ) async throws {
        let again = Self.again(outcomes, now: now)
        try await database.transaction { connection in
            let loaded = try LaneRows.lanes(
                try await connection.pipeline(LaneRows.load("\([shard.lane])")))
            guard var lane = loaded.first else { return }
            let others = try await CrowdWaits.nextDue(
                of: delivery, on: shard.lane, besides: shard.members.map(\.activity), on: connection)
            let next = (again.map(\.at) + (others.map { [$0] } ?? [])).min() ?? now
            guard
                lane.settle(
                    shard.progress(outcomes), of: delivery, number: shard.number, by: replica, again: next, at: now)
            else { return }
            var statements: [PostgresQuery] = []
            if case .queue = shard.step {
                let waiting = Set(again.map(\.activity))
                statements.append(
                    CrowdWaits.done(
                        shard.members.map(\.activity).filter { !waiting.contains($0) }, with: delivery, on: shard.lane))
            }
            if !again.isEmpty { statements.append(CrowdWaits.queue(again, for: delivery, on: shard.lane)) }
            try await connection.pipeline(statements + LaneRows.write([lane], loaded: loaded, at: now))
        }
    }

    /// Members that are tried again, and when. A push that APNs did not accept is repeated after a delay; a push that
    /// was not sent is repeated at once. At least one attempt is counted. The count 0 marks members that wait only
    /// because they want few pushes.
    private static func again(
        _ outcomes: [PushOutcome<CrowdShard.Member>], now: Date
    ) -> [(activity: Int, attempts: Int, at: Date)] {
        outcomes.compactMap { outcome in
            FanOutPolicy.update.again(
                outcome.verdict, after: outcome.member.attempts, at: now, jitter: .random(in: 0..<1)
            ).map { (outcome.member.activity, max(1, $0.attempts), $0.at) }
        }
    }

    /// Members that want few pushes, and may have got one.
    private func resting(_ outcomes: [PushOutcome<CrowdShard.Member>]) -> [(activity: Int, until: Date)] {
        outcomes.compactMap { outcome in
            guard outcome.member.wantsFew else { return nil }
            return switch outcome.verdict {
            case .accepted, .unknown:
                (outcome.member.activity, outcome.sentAt.addingTimeInterval(intervals.rest).inMicroseconds)
            case .retry, .rejected, .expired, .gone, .suspect, nil: nil
            }
        }
    }

    /// Records the results for tokens. This locks activities. All transactions lock activities before events, and
    /// events before lanes, so the results cannot be recorded in the transaction that locks the lane.
    private func settle(
        _ care: TokenCare, _ joins: [PostgresQuery], _ rests: [(activity: Int, until: Date)], now: Date
    ) async throws {
        var statements = care.pruning(.activities, besides: rests.map(\.activity), now: now)
        if !rests.isEmpty { statements.append(CrowdJoins.rest(rests)) }
        statements += joins
        guard !statements.isEmpty else { return }
        try await database.transaction { [statements] connection in
            _ = try await connection.pipeline(statements)
        }
    }

    /// The members whose push needs no repetition, or the others.
    private static func members(
        _ outcomes: [PushOutcome<CrowdShard.Member>], decided: Bool
    ) -> [CrowdShard.Member] {
        outcomes.filter { outcome in
            let again = FanOutPolicy.update.again(outcome.verdict, after: 0, at: outcome.sentAt, jitter: 0)
            return (again == nil) == decided
        }.map(\.member)
    }
}
