internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresOutbox {
    /// Does not wait for the disk. A crash of PostgreSQL may take the newest settlements back, never a claim after them:
    /// such a delivery is `sending` again and repeated with the same timestamp and request ID, which changes nothing.
    ///
    /// One round trip: every lane named is locked, whoever has it; what follows changes those that are this replica's.
    package func settle(_ settlements: [Settlement], replica: UUID, now: Date) async throws {
        guard !settlements.isEmpty else { return }
        let rows = settlements.map(SettlementRow.init)
        let lanes = settlements.map(\.lane)
        var statements: [PostgresQuery] = [
            "select set_config('synchronous_commit', 'off', true)", Self.planning(rows: rows.count),
            "select from lanes where id = any(\(lanes)) order by id for no key update",
            Self.judge(rows, replica: replica),
        ]
        let doubting = rows.filter(\.doubtsChannel).map(\.settlement.delivery)
        if !doubting.isEmpty { statements.append(Self.rejectLost(doubting, replica: replica, now: now)) }
        let retried = rows.filter { $0.state == .queued }.map(\.settlement.lane)
        // A retry is pointless once newer state waits behind it.
        if !retried.isEmpty { statements.append(Self.supersede(lanes: retried, now: now)) }
        statements.append(Self.cancel(onClosed: lanes, now: now))
        if !doubting.isEmpty { statements.append(Self.doubt(doubting, replica: replica, now: now)) }
        statements.append(Self.giveBack(rows, replica: replica, now: now))
        // A closed lane's channel may retire once nothing is under way to it.
        statements.append(
            """
            select pg_notify(\(WakeTopic.channels.rawValue), '') where \(!doubting.isEmpty)
                or exists (select from lanes where id = any(\(lanes)) and fenced_at is not null)
            """)
        try await dispatch.pipeline(statements)
    }

    /// Seconds after a doubt that turned out to be wrong in which a channel is not looked into again.
    private static let doubtRest: TimeInterval = 30

    /// Of these deliveries, those whose lanes have lost the channel they were sent to: Apple's word stands.
    private static func rejectLost(_ deliveries: [Int], replica: UUID, now: Date) -> PostgresQuery {
        """
        update deliveries d set state = 'rejected', settled_at = \(now), next_attempt_at = null
        where d.id = any(\(deliveries)) and d.state = 'queued'
            and exists (select from lanes l where l.id = d.lane and l.leased_by = \(replica))
            and not exists (select from lanes l join channels c on c.id = l.channel
                where l.id = d.lane and c.channel_id = d.channel_id and c.state in ('active', 'retiring'))
        """
    }

    /// Apple refused these deliveries for want of their channels, which a reconciliation is to look into: one refusal
    /// proves nothing. Channels that their lanes do not have any more are left alone.
    private static func doubt(_ deliveries: [Int], replica: UUID, now: Date) -> PostgresQuery {
        """
        update channels c set doubted_at = \(now), reason = d.reason,
            examine_at = greatest(\(now), c.confirmed_at + make_interval(secs => \(doubtRest)))
        from deliveries d join lanes l on l.id = d.lane
        where d.id = any(\(deliveries)) and l.leased_by = \(replica) and c.id = l.channel
            and c.channel_id = d.channel_id and c.state in ('active', 'retiring') and c.doubted_at is null
        """
    }

    package func release(_ deliveries: [ClaimedDelivery], replica: UUID, now: Date) async throws {
        try await dispatch.transaction { connection in
            let owned: Set<Int> = Set(
                try await connection.query(
                    """
                    select id from lanes where id = any(\(deliveries.map(\.lane))) and leased_by = \(replica)
                    order by id for no key update
                    """
                ).map { try $0.decode("id") })
            let released = deliveries.filter { owned.contains($0.lane) }
            try await connection.pipeline([
                """
                update deliveries set state = 'queued', attempts = attempts - 1
                where id = any(\(released.map(\.id))) and state = 'sending'
                """,
                Self.cancel(onClosed: released.map(\.lane), now: now),
                """
                update lanes l set leased_by = null, leased_until = null, due_at = (
                    select \(now)::timestamptz where exists (
                        select from deliveries d where d.lane = l.id and d.settled_at is null))
                where l.id = any(\(released.map(\.lane))) and \(Self.nothingUnderWay)
                """,
                WakeUps.wake(Set(released.map { .lanes($0.address.environment) })),
            ])
        }
    }

    /// `coalesce`: statistics that were made in quiet hours say that nothing is `sending` and nothing leased, and a plan
    /// for one row compares hundreds all with all.
    private static func judge(_ rows: [SettlementRow], replica: UUID) -> PostgresQuery {
        """
        update deliveries d set state = r.state::delivery_state, reason = coalesce(r.reason, d.reason),
            apns_unique_id = r.unique_id, next_attempt_at = r.next_attempt_at,
            settled_at = case when r.state <> 'queued' then r.at end
        from unnest(\(rows.map(\.settlement.delivery)), \(rows.map(\.settlement.lane)), \(rows.map(\.state.rawValue)),
            \(rows.map(\.reason)), \(rows.map(\.uniqueID)), \(rows.map(\.nextAttemptAt)),
            \(rows.map(\.settlement.at)))
            as r(id, lane, state, reason, unique_id, next_attempt_at, at)
        cross join lateral (select leased_by from lanes where id = r.lane offset 0) l
        where d.id = r.id and d.id = any(\(rows.map(\.settlement.delivery)))
            and coalesce(d.state = 'sending' and l.leased_by = \(replica), false)
        """
    }

    /// Nothing more is tried for a cancelled event or a removed audience.
    private static func cancel(onClosed lanes: [Int], now: Date) -> PostgresQuery {
        """
        update deliveries d set state = 'cancelled', settled_at = \(now), next_attempt_at = null
        where d.lane = any(array(select id from lanes where id = any(\(lanes)) and closed_at is not null))
            and d.settled_at is null and d.state <> 'sending'
        """
    }

    /// A verdict may come so late that its replica has claimed the lane `l` again: the lease is that claim's then.
    private static let nothingUnderWay: PostgresQuery = """
        not exists (select from deliveries s where s.lane = l.id and s.settled_at is null and s.state = 'sending')
        """

    /// One look at what each lane has pending: whether something of it is under way again, how urgent it is, and when its
    /// head may go. A head whose retry would have newer content than its last attempt does not wait for its time. What
    /// Apple accepted may be needed for a while: the lane remembers until when, for its channel.
    private static func giveBack(_ rows: [SettlementRow], replica: UUID, now: Date) -> PostgresQuery {
        """
        update lanes l set leased_by = null, leased_until = null, ready_at = greatest(l.ready_at, r.held_until),
            is_urgent = coalesce(p.is_urgent, false), stored_until = greatest(l.stored_until, s.until),
            due_at = case when p.expires_at is null then null
                when l.channel is null then p.expires_at
                when p.count > 1 and p.newest is distinct from p.content_of
                    then greatest(\(now), r.held_until, l.ready_at)
                else greatest(\(now), r.held_until, coalesce(p.next_attempt_at, l.ready_at)) end
        from unnest(\(rows.map(\.settlement.lane)), \(rows.map(\.heldUntil)), \(rows.map(\.settlement.delivery)))
            as r(id, held_until, delivery)
        left join lateral (
            select greatest(case when d.apns_expiration > 0 then d.expires_at end, \(dismissed)) as until
            from deliveries d where d.id = r.delivery and d.state = 'accepted' offset 0) s on true
        cross join lateral (
            select bool_or(d.state = 'sending') as is_under_way, bool_or(d.is_end or d.priority = 10) as is_urgent,
                (array_agg(d.next_attempt_at order by d.id))[1] as next_attempt_at,
                (array_agg(d.expires_at order by d.id))[1] as expires_at, count(*) as count,
                (array_agg(d.content_of order by d.id))[1] as content_of,
                (array_agg(coalesce(d.content_of, d.broadcast_id) order by d.id desc))[1] as newest
            from deliveries d where d.lane = r.id and d.settled_at is null) p
        where l.id = r.id and l.id = any(\(rows.map(\.settlement.lane))) and coalesce(l.leased_by = \(replica), false)
            and p.is_under_way is not true
        """
    }

    /// When an activity that a delivery `d` ended has gone from all lock screens, if the organiser said so: a date
    /// beyond Apple's limit counts as that.
    private static let dismissed: PostgresQuery = """
        case when d.is_end then (
            select to_timestamp(least(dismissal_date,
                floor(extract(epoch from d.settled_at))::bigint + \(APNsLimits.endedActivityLifetime)))
            from broadcasts where id = d.broadcast_id and dismissal_date is not null) end
        """
}

/// A verdict as the columns of `deliveries` have it.
private struct SettlementRow {
    let settlement: Settlement
    let state: Delivery.State
    var reason: String?
    var uniqueID: String?
    var nextAttemptAt: Date?
    /// Nothing goes to the channel before.
    var heldUntil: Date?
    /// Apple said that it does not know the channel.
    var doubtsChannel = false

    init(_ settlement: Settlement) {
        self.settlement = settlement
        switch settlement.verdict {
        case .accepted(let receipt):
            state = .accepted
            uniqueID = receipt.uniqueID
        case .retry(let at, let why):
            state = .queued
            reason = why
            nextAttemptAt = at
        case .throttled(let until, let why):
            state = .queued
            reason = why
            nextAttemptAt = until
            heldUntil = until
        case .rejected(let refusal):
            state = .rejected
            reason = refusal.reason.rawValue
        case .channelDoubted(let refusal, let next):
            state = next == nil ? .rejected : .queued
            reason = refusal.reason.rawValue
            nextAttemptAt = next
            doubtsChannel = true
        case .expired(let why):
            state = .expired
            reason = why
        }
    }
}
