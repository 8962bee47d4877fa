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
    let rarePause: TimeInterval

    // MARK: Claims

    func claim(_ claim: WorkClaim) async throws -> [Shard] {
        var claim = claim
        (claim.at, claim.laneInterval) = (claim.at.asStored, laneInterval)
        // A lane whose lease ended is taken again, also by its former holder.
        claim.held = nil
        return try await database.transaction { [claim] connection in
            let due = try await connection.query(Self.lock(claim))
            guard !due.isEmpty else { return [] }
            let ids: [Int] = try due.map { try $0.decode("lane") }
            return try await Self.take(ids, claim, on: connection)
        }
    }

    /// Takes the next shards, those first that have waited longest among the most urgent.
    private static func take(
        _ ids: [Int], _ claim: WorkClaim, on connection: PostgresConnection
    ) async throws -> [Shard] {
        let loaded = try LaneRows.lanes(try await connection.pipeline(LaneRows.selectLocked("\(ids)")))
        var lanes = loaded
        var taken: [(lane: Lane, message: LaneMessage)] = []
        var crowds: [Int: [Shard.Member]] = [:]
        let turns = loaded.map { ($0.rank(at: claim.at).rawValue, $0[.tokens].storedDue ?? claim.at) }
        for place in lanes.indices.sorted(by: { turns[$0] < turns[$1] }) where taken.count < claim.limit {
            let next = try await next(of: &lanes[place], claim, on: connection)
            guard let (message, members) = next else { continue }
            taken.append((lanes[place], message))
            crowds[lanes[place].id] = members
        }
        let rows = try await connection.pipeline(
            LaneRows.write(lanes, loaded: loaded, at: claim.at) + ClaimedDelivery.select(taken))
        var shards: [Shard] = []
        for claimed in try ClaimedDelivery.read(rows, of: taken, by: claim.replica) {
            let message = claimed.message
            if message.id == nil {
                guard claimed.body.count <= Contract.DeliveryKind.tokens.bodyLimit else {
                    try await CrowdRows(lane: claimed.lane, connection: connection).setDue(where: "a.has < 0")
                    continue
                }
                try await connection.query(CatchUp.markShown([message.broadcast]))
            }
            let push = Shard.Push(
                body: claimed.body, priority: message.priority, expiration: message.apnsExpiration,
                requestID: message.requestID)
            var few = push
            if !message.hasAlert { few.priority = min(few.priority, .powerAware) }
            shards.append(
                Shard(
                    owner: claimed.lane, number: message.attempts, address: claimed.address,
                    deadline: message.expiresAt, pushes: [push, few], members: crowds[claimed.lane] ?? [],
                    delivery: message.id))
        }
        return shards
    }

    /// What a lane sends now, and to whom: the next shard of its message, or the newest content to new tokens. A message
    /// without tokens left is settled at once.
    private static func next(
        of lane: inout Lane, _ claim: WorkClaim, on connection: PostgresConnection
    ) async throws -> (LaneMessage, [Shard.Member])? {
        let size = claim.shardLimit(of: lane.audience.bundleID)
        guard let message = lane.take(claim, to: .tokens, requestID: UUID.drawn), let delivery = message.id else {
            return try await catchUp(of: &lane, claim, size: min(size, maxNewTokens), on: connection)
        }
        let crowd = CrowdRows(lane: lane.id, connection: connection, after: message.tokens?.last)
        let total = message.tokens == TokenProgress() ? try await crowd.beginSend() : nil
        let (members, last) = try await crowd.shard(of: message, delivery, size: size, at: claim.at)
        lane.reach(last, total: total, of: delivery)
        guard members.isEmpty else { return (message, members) }
        let (left, due) = try await crowd.left(of: delivery)
        _ = lane.settle(left, of: delivery, number: message.attempts, by: claim.replica, again: due, at: claim.at)
        return nil
    }

    /// The maximum number of new tokens in one shard. It is limited, because a message of the lane waits as long as the
    /// shard takes.
    private static let maxNewTokens = 500

    /// The newest content for a lane's new tokens; `nil`: there is nothing to send, or a message of the lane will reach
    /// them.
    private static func catchUp(
        of lane: inout Lane, _ claim: WorkClaim, size: Int, on connection: PostgresConnection
    ) async throws -> (LaneMessage, [Shard.Member])? {
        let crowd = CrowdRows(lane: lane.id, connection: connection)
        var due: PostgresQuery = "a.due_at <= \(claim.at)"
        var again: Date?
        if !lane.queue(.tokens).isEmpty {
            again = claim.at.addingTimeInterval(5)
        } else if lane.closedAt == nil, let news = try await CatchUp.message(of: lane, at: claim.at, on: connection) {
            let members = try await crowd.dueMembers("a.has < 0 and \(due)", size: size)
            if !members.isEmpty, lane.leaseLate(for: claim) { return (news, members) }
            // Other tokens waited for a message that has expired or was cancelled.
            due = "a.has >= 0 and \(due)"
        }
        try await crowd.setDue(until: "\(again)", where: due)
        return nil
    }

    func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await database.query(
            """
            with recursive \(Self.dueVariants)
            select least(
                (select min(tokens_due_at) from audiences where environment = \(environment.rawValue)::environment
                    and tokens_due_at is not null),
                (select min(greatest(j.due_at, u.tokens_leased_until)) from \(Self.dueLanes)
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
    func settle(_ shard: Shard, _ outcomes: [PushOutcome], replica: UUID, now: Date) async throws {
        let now = now.asStored
        try await database.transaction { connection in
            try await connection.pipeline(outcomes.markActivities(at: now))
            let loaded = try await LaneRows.lockLoad("\([shard.owner])", on: connection)
            guard var lane = loaded.first, lane.holds(shard.delivery, number: shard.number, by: replica) else { return }
            let message = lane.messages.first { $0.id == shard.delivery }
            let crowd = CrowdRows(lane: shard.owner, connection: connection, after: message?.tokens?.last)
            try await crowd.record(outcomes, of: shard.delivery, rest: rarePause, now: now)
            if let delivery = shard.delivery {
                let (left, due) = try await crowd.left(of: delivery)
                let (progress, reason) = outcomes.progress(left)
                _ = lane.settle(
                    progress, reason: reason, of: delivery, number: shard.number, by: replica, again: due, at: now)
            } else {
                lane.releaseLate(by: replica, at: now)
            }
            try await connection.pipeline(LaneRows.write([lane], loaded: loaded, at: now))
        }
    }
}

/// The lanes whose tokens are due.
extension CrowdStore {
    /// The variants of events that have tokens with a time at which they are due. The query needs as many index probes as
    /// there are such variants.
    private static let dueVariants: PostgresQuery = """
        waiting as (
            (select app, event_key, variant from activities where in_crowd and due_at is not null
            order by app, event_key, variant limit 1)
            union all
            select n.* from waiting w cross join lateral (
                select app, event_key, variant from activities where in_crowd and due_at is not null
                    and (app, event_key, variant) > (w.app, w.event_key, w.variant)
                order by app, event_key, variant limit 1) n
        )
        """

    /// When the first token of each variant of `dueVariants` is due, and the lane whose messages go to it.
    private static let dueLanes: PostgresQuery = """
        waiting w
        cross join lateral (
            select due_at from activities where app = w.app and event_key = w.event_key and variant = w.variant
                and in_crowd and due_at is not null order by due_at limit 1) j
        cross join lateral (select bundle_id, environment from app_environments where id = w.app offset 0) p
        cross join lateral (\(AudienceColumns.ofTokens(of: "w.event_key", in: "p", variant: "w.variant"))) u
        """

    /// Locks lanes that are due, or that have tokens due, and that nobody has leased. Lanes that another transaction has
    /// locked are skipped.
    private static func lock(_ claim: WorkClaim) -> PostgresQuery {
        """
        with recursive \(dueVariants)
        select lane from audiences where lane = any(array(
            (select lane from audiences where environment = \(claim.environment.rawValue)::environment
                and tokens_due_at <= \(claim.at) and bundle_id <> all(\(claim.limits.pausedApps))
            order by rank, tokens_due_at limit \(claim.limit))
            union
            (select u.lane from \(dueLanes)
            where j.due_at <= \(claim.at) and u.environment = \(claim.environment.rawValue)::environment
                and coalesce(u.tokens_leased_until <= \(claim.at), true)
                and u.bundle_id <> all(\(claim.limits.pausedApps))
            order by j.due_at limit \(claim.limit))))
            and coalesce(tokens_leased_until <= \(claim.at), true)
        order by lane for no key update skip locked
        """
    }
}

/// What a new token gets: the newest content of its audience, or the audience's end.
enum CatchUp {
    /// Seconds after an `end` in which a phone may still show an activity that did not get the `end`. No activity is
    /// active longer.
    static let endLifetime = TimeInterval(APNsLimits.activityLifetime)

    /// The message with the newest content or the end of a lane.
    ///
    /// It gets the highest timestamp of the lane or the second before now (for an end: now), whichever is later. So the
    /// timestamp is at least that of the content, and it is lower than the timestamp of every later update. An activity
    /// that already shows the content with this timestamp does not change. A start that was sent after the content may
    /// show a later timestamp than the content's own. The start's timestamp, too, is lower than the timestamp of every
    /// later update.
    ///
    /// - Returns: `nil`: there is nothing to send, or it is too late to send it.
    static func message(of lane: Lane, at now: Date, on connection: PostgresConnection) async throws -> LaneMessage? {
        let longest = now.addingTimeInterval(TimeInterval(APNsLimits.storedMessageLifetime))
        let end = lane.fencedAt.map { $0.addingTimeInterval(endLifetime) }
        if let end, end <= now { return nil }
        var broadcast = lane.newest
        if end != nil { broadcast = try await connection.query(Self.lastEnd(of: lane.id)).first?.decode("id") }
        guard let broadcast else { return nil }
        let expiresAt = min(end ?? longest, longest)
        return LaneMessage(
            broadcast: broadcast, isEnd: end != nil, priority: end == nil ? .powerAware : .immediate,
            apnsExpiration: Int(expiresAt.timeIntervalSince1970.rounded(.up)), expiresAt: expiresAt,
            timestamp: max(lane.lastTimestamp, end == nil ? now.epoch - 1 : now.epoch),
            requestID: .drawn(), tokens: TokenProgress())
    }

    /// The newest `end` that was accepted for an audience; no row: the event was closed automatically.
    private static func lastEnd(of lane: Int) -> PostgresQuery {
        """
        select b.id from (select event_key from audiences where lane = \(lane) offset 0) v
        cross join lateral (
            select id, accepted_at from broadcasts
            where event_key = v.event_key and event = 'end' and not cancelled offset 0) b
        cross join lateral (select lane from deliveries where broadcast_id = b.id offset 0) d
        where d.lane = \(lane) order by b.accepted_at desc, b.id desc limit 1
        """
    }

    // MARK: What is shown

    /// Locks broadcasts whose contents are about to be sent by another way than their messages, so that they cannot be
    /// withdrawn before the commit. There is no row for those that were withdrawn.
    static func lock(_ broadcasts: Set<UUID>) -> PostgresQuery {
        """
        select from broadcasts where id = any(\(Array(broadcasts))) and not cancelled order by id for no key update
        """
    }

    /// Records that broadcasts' contents are sent to a device separately, not in one of their own messages. After that,
    /// they cannot be withdrawn.
    static func markShown(_ broadcasts: Set<UUID>) -> PostgresQuery {
        "update broadcasts set shown = true where id = any(\(Array(broadcasts))) and not shown"
    }
}
