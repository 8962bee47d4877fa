internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Lanes and their messages as the tables `lanes` and `deliveries` have them: locked and loaded by key, written back by
/// key, new messages appended (`LaneRows+write`). What becomes of them in between is `Lane`'s.
enum LaneRows {
    /// Locks lanes in order of their IDs, then loads them with what is not settled, by statements of their own: those see
    /// what was committed while the locks were waited for, of channels and messages, too.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    /// - Returns: statements of which the last two have the rows for `lanes(_:)`.
    static func load(_ ids: PostgresQuery) -> [PostgresQuery] { [lock(ids)] + loadLocked(ids) }

    /// Locks and loads those of these lanes that nobody else has locked. It waits for no lock.
    ///
    /// - Returns: statements that end with those for `free(_:)`.
    static func loadFree(_ ids: [Int]) -> [PostgresQuery] {
        ["select id from lanes where id = any(\(ids)) order by id for no key update skip locked"] + loadLocked("\(ids)")
    }

    /// The lanes that `loadFree` locked, and the IDs of those that somebody else has locked.
    static func free(_ results: [PostgresRows]) throws -> (lanes: [Lane], others: Set<Int>) {
        let free = Set<Int>(try results[results.count - 3].map { try $0.decode("id") })
        let all = try lanes(results)
        return (all.filter { free.contains($0.id) }, Set(all.map(\.id)).subtracting(free))
    }

    /// The same for lanes that the transaction has locked.
    static func loadLocked(_ ids: PostgresQuery) -> [PostgresQuery] {
        [rows(ids), messages(ids, "d.settled_at is null")]
    }

    /// Locks and loads lanes with what the withdrawal of a broadcast has to know: its message, and the newest that were
    /// cancelled down to one that was not.
    static func load(_ ids: PostgresQuery, withdrawing broadcast: UUID) -> [PostgresQuery] {
        [
            lock(ids), rows(ids),
            """
            with recursive chain as (
                select l.id as lane, l.newest_broadcast as broadcast from lanes l where l.id = any(\(ids))
                union
                select c.lane, d.content_before from chain c cross join lateral (
                    select state, content_before from deliveries
                    where broadcast_id = c.broadcast and lane = c.lane offset 0) d
                where d.state = 'cancelled' or c.broadcast = \(broadcast)
            )
            \(messages(
                ids,
                """
                (d.settled_at is null or d.broadcast_id = \(broadcast)
                    or exists (select from chain c where c.lane = d.lane and c.broadcast = d.broadcast_id))
                """,
                // History that was deleted is not shown again.
                contentBefore: "(select id from broadcasts where id = d.content_before)"))
            """,
        ]
    }

    /// Locks and loads lanes of an event with what is to be known when their ends are taken back: those, and the newest
    /// contents that are an end's or were cancelled down to one that is neither.
    static func load(_ ids: PostgresQuery, takingBackEndsOf key: EventKey) -> [PostgresQuery] {
        [
            lock(ids), rows(ids),
            """
            with recursive chain as (
                select l.id as lane, l.newest_broadcast as broadcast from lanes l where l.id = any(\(ids))
                union
                select c.lane, d.content_before from chain c cross join lateral (
                    select state, is_end, content_before from deliveries
                    where broadcast_id = c.broadcast and lane = c.lane offset 0) d
                where d.state = 'cancelled' or d.is_end
            ), wanted as (
                select id from deliveries where lane = any(\(ids)) and settled_at is null
                union
                select d.id from chain c cross join lateral (
                    select id from deliveries where broadcast_id = c.broadcast and lane = c.lane offset 0) d
                union
                select d.id from broadcasts b cross join lateral (
                    select id from deliveries where broadcast_id = b.id offset 0) d
                where b.event_key = \(key.rawValue) and b.event = 'end'
            )
            \(messages(ids, "d.id = any(array(select id from wanted))"))
            """,
        ]
    }

    private static func lock(_ ids: PostgresQuery) -> PostgresQuery {
        "select from lanes where id = any(\(ids)) order by id for no key update"
    }

    private static func rows(_ ids: PostgresQuery) -> PostgresQuery {
        """
        select l.id as lane, l.kind, l.token, l.leased_by, l.leased_until, \(AudienceColumns.ofLane(of: "l")), l.channel,
            c.channel_id, coalesce(c.state in \(Channel.State.sql(.takesMessages)), false) as takes_messages,
            l.last_timestamp, l.ready_at, l.fenced_at, l.closed_at, l.newest_broadcast, l.stored_until, l.due_at
        from lanes l left join channels c on c.id = l.channel
        where l.id = any(\(ids)) order by l.id
        """
    }

    private static func messages(
        _ ids: PostgresQuery, _ condition: PostgresQuery, contentBefore: PostgresQuery = "d.content_before"
    ) -> PostgresQuery {
        """
        select d.lane, d.is_end, d.plain_priority, d.id, d.broadcast_id, d.state,
            case when d.is_end then (select dismissal_date from broadcasts where id = d.broadcast_id) end
                as dismissal_date,
            d.priority, d.alerting, d.rings_until, d.apns_expiration, d.expires_at, d.attempts, d.refusals, d.next_attempt_at,
            d.apns_timestamp, d.apns_request_id, d.apns_unique_id, d.channel_id, d.reason, d.settled_at,
            \(contentBefore) as content_before, d.content_of, d.content_sent, d.content_bytes, d.alert_bytes, d.fan_out, d.is_start
        from deliveries d where d.lane = any(\(ids)) and \(condition) order by d.id
        """
    }

    /// The lanes that `load` found, in order of their IDs.
    ///
    /// - Parameter results: of the statements that end with `load`.
    static func lanes(_ results: [PostgresRows]) throws -> [Lane] {
        let (rows, messageRows) = (results[results.count - 2], results[results.count - 1])
        var messages: [Int: [LaneMessage]] = [:]
        for row in messageRows { messages[try row.decode("lane"), default: []].append(try message(row)) }
        return try rows.map { row in
            let id: Int = try row.decode("lane")
            let lease: (replica: UUID?, until: Date?) = (try row.decode("leased_by"), try row.decode("leased_until"))
            return Lane(
                id: id, kind: try row.word("kind"),
                token: try row.decode([UInt8]?.self, "token").flatMap(DeviceToken.init(bytes:)),
                audience: try AudienceColumns.audienceOfLane(row),
                channel: try row.decode(UUID?.self, "channel").map {
                    Lane.Channel(
                        id: $0, channelID: try row.decode("channel_id"),
                        takesMessages: try row.decode("takes_messages"))
                },
                lease: lease.replica.flatMap { replica in
                    lease.until.map { Lane.Lease(replica: replica, until: $0) }
                },
                messages: messages[id] ?? [], lastTimestamp: try row.decode("last_timestamp"),
                readyAt: try row.decode("ready_at"), fencedAt: try row.decode("fenced_at"),
                closedAt: try row.decode("closed_at"), newest: try row.decode("newest_broadcast"),
                storedUntil: try row.decode("stored_until"),
                waitsSince: lease.until == nil ? try row.decode("due_at") : nil)
        }
    }

    private static func message(_ row: PostgresRow) throws -> LaneMessage {
        let isEnd: Bool = try row.decode("is_end")
        let plain: Int? = try row.decode("plain_priority")
        return LaneMessage(
            id: try row.decode("id"), broadcast: try row.decode("broadcast_id"), state: try row.word("state"),
            isEnd: isEnd, isStart: try row.decode("is_start"), dismissalDate: try row.decode("dismissal_date"),
            priority: try row.priority("priority"),
            plainPriority: plain.flatMap(APNsPriority.init) ?? (isEnd ? .immediate : .powerAware),
            alerting: try row.decode("alerting"), ringsUntil: try row.decode("rings_until"),
            apnsExpiration: try row.decode("apns_expiration"), expiresAt: try row.decode("expires_at"),
            attempts: try row.decode("attempts"), refusals: try row.decode("refusals"),
            nextAttemptAt: try row.decode("next_attempt_at"),
            timestamp: try row.decode("apns_timestamp"), requestID: try row.decode("apns_request_id"),
            uniqueID: try row.decode("apns_unique_id"), channelID: try row.decode("channel_id"),
            reason: try row.decode("reason"), settledAt: try row.decode("settled_at"),
            contentBefore: try row.decode("content_before"), contentOf: try row.decode("content_of"),
            contentSent: try row.decode("content_sent"), contentBytes: try row.decode("content_bytes"),
            alertBytes: try row.decode("alert_bytes"), fanOut: try FanOutText.fanOut(row))
    }
}
