package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Crowds in the tables `crowds`, `activities`, `lanes` and `deliveries`. A lane's row is locked before anything of it
/// changes, as for channels; a shard is what the lane's lease is for.
package struct PostgresCrowdStore: CrowdStore {
    let database: Database
    private let intervals: Intervals

    /// Seconds between two messages of one lane.
    package struct Intervals: Sendable {
        package var frequent: TimeInterval
        /// For people who switched frequent pushes off.
        package var infrequent: TimeInterval

        package init(frequent: TimeInterval, infrequent: TimeInterval) {
            self.frequent = frequent
            self.infrequent = infrequent
        }
    }

    package init(_ database: Database, intervals: Intervals) {
        self.database = database
        self.intervals = intervals
    }

    // MARK: Claims

    package func claim(_ claim: ShardClaim) async throws -> [CrowdShard] {
        let now = claim.at.inMicroseconds
        let laneClaim = LaneClaim(
            environment: claim.environment, limit: claim.limit, replica: claim.replica, at: now,
            leasedUntil: claim.leasedUntil, laneInterval: intervals.frequent,
            infrequentInterval: intervals.infrequent)
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
            // Shards that were leased are given back before the end of their lease.
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
            let crowd = try await CrowdRows.shard(
                of: lanes[index].id, fanOut, size: size(lanes[index].audience.bundleID), on: connection)
            if fanOut.total == 0, let total = crowd.total {
                fanOut.total = total
                lanes[index].begin(fanOut, of: delivery)
            }
            if crowd.members.isEmpty {
                _ = lanes[index].settle(
                    FanOut.Progress(cursor: crowd.cursor, isSwept: crowd.isLast), of: delivery,
                    number: message.attempts, by: claim.replica, again: claim.at, at: claim.at)
            } else {
                try await CrowdJoins.reach(crowd.members, of: lanes[index].id, on: connection)
                crowds[lanes[index].id] = crowd
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
                    priority: push.message.priority, expiration: push.message.apnsExpiration,
                    attempts: (push.message.fanOut?.tries ?? 0) + 1, number: push.message.attempts,
                    expiresAt: push.message.expiresAt, members: crowd.members,
                    cursor: crowd.cursor, isLast: crowd.isLast)
            }
        }
    }

    package func nextDue(in environment: APNsEnvironment) async throws -> Date? {
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

    package func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws {
        try await LaneRows.extendLeases(of: lanes, replica: replica, until: leasedUntil, in: database)
    }

    // MARK: Settling

    package func settle(
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
        let again =
            Self.refusedKeyAgain(outcomes)
            ?? RetryPolicy.broadcasts.nextAttempt(
                after: max(1, shard.attempts), now: now, jitter: .random(in: 0..<1))
        guard let delivery = shard.delivery else {
            // Before the lane is given back, so that the same members are not taken once more.
            try await settle(
                care,
                [
                    CrowdJoins.lock(outcomes.map(\.member)),
                    CrowdJoins.joined(Self.members(outcomes, decided: true), of: shard.lane),
                    CrowdJoins.postponed(Self.members(outcomes, decided: false), of: shard.lane, now: now),
                ], now: now)
            return try await database.transaction { connection in
                try await LaneRows.change("\([shard.lane])", at: now, on: connection) {
                    $0.release(by: replica, at: now)
                }
            }
        }
        try await database.transaction { connection in
            try await LaneRows.change("\([shard.lane])", at: now, on: connection) { lane in
                _ = lane.settle(
                    shard.progress(outcomes), of: delivery, number: shard.number, by: replica, again: again, at: now)
            }
        }
        try await settle(care, [], now: now)
    }

    /// When a key that APNs refuses is asked about again: at its own pace, however often the shard met that.
    private static func refusedKeyAgain(_ outcomes: [PushOutcome<CrowdShard.Member>]) -> Date? {
        outcomes.compactMap { outcome in
            guard case .retry(let at, let reason) = outcome.verdict,
                APNsReason(rawValue: reason).concernsProviderToken
            else { return nil }
            return at
        }.max()
    }

    /// Apart from the lane: a report of an activity locks it before its event, whose lock comes before lanes'.
    private func settle(_ care: TokenCare, _ joins: [PostgresQuery], now: Date) async throws {
        let statements = care.pruning(.activities, now: now) + joins
        guard !statements.isEmpty else { return }
        try await database.transaction { connection in
            _ = try await connection.pipeline(statements)
        }
    }

    /// Those whose push needs no repetition, or the others.
    private static func members(
        _ outcomes: [PushOutcome<CrowdShard.Member>], decided: Bool
    ) -> [CrowdShard.Member] {
        outcomes.filter { outcome in
            switch outcome.verdict {
            case .accepted, .rejected, .expired, .gone, .suspect: decided
            case .retry, .unknown, nil: !decided
            }
        }.map(\.member)
    }
}
