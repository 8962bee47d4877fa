internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// A withdrawal leaves what would be true had the broadcast never come, as far as nothing of it was sent. It has the locks
/// of an acceptance, in their order, so it comes before a claim of its lanes or after it, and never beside one.
extension PostgresOutbox {
    package func cancel(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool? {
        let (isWithdrawn, topics) = try await calls.transaction { connection -> (Bool?, Set<WakeTopic>) in
            guard let isScheduled = try await Self.lockBroadcast(id, on: connection) else { return (nil, []) }
            try await EventReach.require(reach, broadcast: id, on: connection)
            if isScheduled {
                try await connection.pipeline([
                    "update broadcasts set scheduled = false, cancelled = true where id = \(id)",
                    AuditRows(by: actor, at: now).withdrawal(of: id, wasScheduled: true),
                ])
                return (true, [])
            }
            let locked = try await connection.query(
                """
                select id, environment from lanes
                where id = any(array(select lane from deliveries where broadcast_id = \(id)))
                order by id for no key update
                """)
            guard try await Self.isUnsent(id, on: connection) else { return (false, []) }
            let cancelled = try await connection.query(
                """
                update deliveries set state = 'cancelled', settled_at = \(now), next_attempt_at = null
                where broadcast_id = \(id) and state in ('waiting', 'queued', 'superseded') returning lane, is_end
                """)
            // It was cancelled before, and its lanes may have gone on since.
            guard let first = cancelled.first else { return (true, []) }
            let lanes: [Int] = try cancelled.map { try $0.decode("lane") }
            let isEnd: Bool = try first.decode("is_end")
            var statements: [PostgresQuery] = isEnd ? [Self.reopen(lanes)] : []
            statements += [
                Self.showBefore(lanes), Self.sendAfterAll(lanes, now: now), Self.wakeLanes(lanes, now: now),
                Self.takeBackMoments(of: id),
                "update broadcasts set cancelled = true where id = \(id)",
                AuditRows(by: actor, at: now).withdrawal(of: id, wasScheduled: false),
            ]
            try await connection.pipeline(statements)
            let environments: [APNsEnvironment] = try locked.map { try $0.word("environment") }
            return (true, Set(environments.map(WakeTopic.lanes) + (isEnd ? [.channels] : [])))
        }
        calls.afterCommit { desk.wakeUps.send(topics) }
        return isWithdrawn
    }

    /// Locks the event or channel of a broadcast, then the broadcast itself.
    ///
    /// - Returns: whether it waits for its time; `nil`: there is no such broadcast.
    private static func lockBroadcast(_ id: UUID, on connection: PostgresConnection) async throws -> Bool? {
        try await connection.pipeline([
            """
            select from events where key = (select event_key from broadcasts where id = \(id)) for no key update
            """,
            "select from channels where id = (select channel from broadcasts where id = \(id)) for no key update",
            "select scheduled from broadcasts where id = \(id) for update",
        ])[2].first?.decode("scheduled")
    }

    /// A message that was given its timestamp was claimed; whether it left is not known for sure. Its content may have
    /// left before it, with an earlier alert.
    private static func isUnsent(_ id: UUID, on connection: PostgresConnection) async throws -> Bool {
        try await connection.query(
            """
            select from deliveries where broadcast_id = \(id)
                and (attempts > 0 or apns_timestamp is not null or content_sent
                    or state not in ('waiting', 'queued', 'superseded', 'cancelled')) limit 1
            """
        ).isEmpty
    }

    /// Lanes whose end was withdrawn take messages again, unless their audience is gone or their event cancelled.
    private static func reopen(_ lanes: [Int]) -> PostgresQuery {
        "update lanes set fenced_at = null where id = any(\(lanes)) and closed_at is null"
    }

    /// A lane's newest content is the newest that was not cancelled: each message names the one before it.
    private static func showBefore(_ lanes: [Int]) -> PostgresQuery {
        """
        with recursive chain as (
            select l.id as lane, l.newest_broadcast as broadcast, d.state, d.content_before
            from lanes l left join lateral (
                select state, content_before from deliveries
                where broadcast_id = l.newest_broadcast and lane = l.id offset 0) d on true
            where l.id = any(\(lanes))
            union all
            select c.lane, c.content_before, d.state, d.content_before
            from chain c left join lateral (
                select state, content_before from deliveries
                where broadcast_id = c.content_before and lane = c.lane offset 0) d on true
            where c.state = 'cancelled'
        )
        update lanes l set newest_broadcast = case when c.state is not null then c.broadcast end
        from chain c where l.id = c.lane and l.id = any(\(lanes)) and c.state is distinct from 'cancelled'
        """
    }

    /// An update that gave way to what was withdrawn was accepted and never sent: it takes its place in the lane again.
    private static func sendAfterAll(_ lanes: [Int], now: Date) -> PostgresQuery {
        """
        update deliveries d set state = case when l.channel is null then 'waiting' else 'queued' end::delivery_state,
            settled_at = null
        from lanes l where l.id = any(\(lanes)) and l.fenced_at is null and l.closed_at is null
            and d.broadcast_id = l.newest_broadcast and d.lane = l.id
            and d.broadcast_id = any(array(select newest_broadcast from lanes where id = any(\(lanes))))
            and d.state = 'superseded' and d.expires_at > \(now)
        """
    }

    /// The next claim looks at what is left; a lane that is leased is looked at when it is given back.
    private static func wakeLanes(_ lanes: [Int], now: Date) -> PostgresQuery {
        """
        update lanes l set due_at = case when l.leased_until is not null then l.due_at
            when p.expires_at is null then null
            when l.channel is null then p.expires_at
            else greatest(\(now), l.ready_at) end
        from unnest(\(lanes)) as r(id) cross join lateral (
            select min(expires_at) as expires_at from deliveries where lane = r.id and settled_at is null) p
        where l.id = r.id and l.id = any(\(lanes))
        """
    }

    /// An event ends when every audience got its end, and begins with its first update, of those that were not withdrawn.
    private static func takeBackMoments(of id: UUID) -> PostgresQuery {
        """
        update events e set
            ended_at = case when not exists (
                select from audiences u join lanes l on l.id = u.lane
                where u.event_key = e.key and l.fenced_at is null) then e.ended_at end,
            first_update_at = case when w.event <> 'update' or e.first_update_at < w.accepted_at or exists (
                select from broadcasts b where b.event_key = e.key and b.id <> w.id and b.event = 'update'
                    and not b.scheduled and not b.cancelled) then e.first_update_at end
        from broadcasts w where w.id = \(id) and e.key = w.event_key and e.cancelled_at is null
        """
    }
}
