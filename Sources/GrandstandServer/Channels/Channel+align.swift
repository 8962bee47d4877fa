internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// An alignment reads only rows that are in use: channels that are not deleted, events that are not over, and lanes
/// with something to send. Each statement starts from a partial index of such rows. It looks up all other rows by key,
/// in lateral joins and scalar subqueries that no plan turns into a join with a whole table. Without this, 12,000 past
/// events made the retirement of 3,000 channels take 57 s instead of 10 s.
extension ChannelStore {
    /// Changes the ledger to match the events. It closes events whose `end` never came. It creates intents for
    /// audiences whose channels must open. It retires the channels of events that are over, and drops intents that are
    /// no longer needed. If other channels need places, it allows the deletion of retiring channels that no device
    /// needs. If places are scarce, they are given in the order in which the channels are needed. Among channels needed
    /// at the same time, the earlier start of the event decides, then the earlier declaration. Idempotent.
    ///
    /// - Returns: the number of channels that changed.
    func align(now: Date, tenure: ChannelTenure) async throws -> Int {
        try await database.transaction { connection in
            // Only one process aligns at a time. A process that waited for this lock then finds nothing left to do.
            try await connection.query(Self.lockAlignment)
            let closed = try await Self.closeOverdue(now: now, tenure: tenure, on: connection)
            return try await connection.pipeline([
                Self.retire(now: now, tenure: tenure),
                Self.replaceMissing(now: now),
                Self.dropIntents(now: now),
                Self.declare(now: now),
                Self.lockQuotas(now: now),
                Self.admit(now: now),
            ]).reduce(closed) { $0 + $1.affectedRows }
        }
    }

    /// An arbitrary constant for the lock.
    private static let alignLock = 7_230_518_204_417_734

    /// The lock is held until the commit, so that no other replica aligns meanwhile.
    static let lockAlignment: PostgresQuery = "select pg_advisory_xact_lock(\(alignLock))"

    /// An event `e` that takes no more broadcasts.
    static let isOver: PostgresQuery = "(e.ended_at is not null or e.cancelled_at is not null)"

    /// The event `e` of a channel `c`.
    static let event: PostgresQuery = "(select * from events where key = c.event_key offset 0) e"

    /// The lane of the audience that a channel `c` with an event serves. Null: the event no longer has that audience,
    /// or the audience wants another channel or none.
    static let audienceLane: PostgresQuery = """
        (select u.lane from audiences u where u.event_key = c.event_key and \(AudienceColumns.serves("u", "c"))
            and \(AudienceColumns.wantsChannel("u")))
        """

    /// As `audienceLane`, but null if the lane is fenced because its `end` was accepted: no message follows, so the
    /// audience needs no channel.
    static let openLane: PostgresQuery =
        "(select lane from audiences where lane = \(audienceLane) and fenced_at is null)"

    /// Whether a message of a lane to its channel is not settled yet; null: every message is settled.
    static func pending(lane: PostgresQuery) -> PostgresQuery {
        "(select true from deliveries where lane = \(lane) and settled_at is null and tokens is null limit 1)"
    }

    /// Whether a message of a lane is not settled yet, also one to tokens; null: every message is settled.
    static func unsettled(lane: PostgresQuery) -> PostgresQuery {
        "(select true from deliveries where lane = \(lane) and settled_at is null limit 1)"
    }

    /// Until when a device may need a channel `c`: until stored messages have expired and ended activities are
    /// dismissed.
    static let neededUntil: PostgresQuery =
        "greatest(c.needed_until, (select max(stored_until) from audiences where channel = c.id))"

    /// Retires channels that no audience needs, once the last message to them is settled. A retiring channel is deleted
    /// when no device can need it any more, but not before `retireAfter` has passed (docs/internals/apns.md section 8).
    ///
    /// An event may need its place earlier. So if APNs refused creations for lack of a place and a channel is retired
    /// here that no device needs, one creation is tried immediately (`admit`). It takes the channel's place (`reclaim`).
    private static func retire(now: Date, tenure: ChannelTenure) -> PostgresQuery {
        let audit = AuditRows(by: .server, at: now)
        return """
            with due as materialized (
                select c.id, \(neededUntil) as needed_until,
                    coalesce(e.ended_at, e.cancelled_at, \(now)) + make_interval(secs => \(tenure.retireAfter))
                        as kept_until
                from channels c cross join lateral \(event)
                where c.state = 'active' and c.event_key is not null
                    and (\(isOver) or \(openLane) is null)
                    and (select true from audiences l cross join lateral \(pending(lane: "l.lane")) d
                        where l.channel = c.id limit 1) is null
            ), retired as (
                \(move(
                    "c.id = t.id and c.id = any(array(select id from due))", with: "due t", from: [.active],
                    to: .retiring, due: "greatest(t.kept_until, t.needed_until)", also: """
                        , attempts = 0, needed_until = t.needed_until,
                            retire_at = greatest(t.kept_until, t.needed_until)
                        """, at: now))
            )
            \(audit.insert(
                .channelRetired, channels: "retired c",
                reason: "'kept until ' || to_char(retire_at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"))
            """
    }

    /// Gives up an event's channel that Apple no longer has, so that the event can get another.
    private static func replaceMissing(now: Date) -> PostgresQuery {
        move("c.event_key is not null", from: [.missing], to: .deleted, reason: "'APNs no longer had it'", at: now)
    }

    /// Deletes intents to create a channel that are no longer needed. Also deletes intents that are not needed yet,
    /// because the time at which the event's channels open (`channels_open_at`) was moved. An intent stays if Apple was
    /// asked to create its channel.
    private static func dropIntents(now: Date) -> PostgresQuery {
        drop(
            """
            c.id = any(array(
                select c.id from channels c cross join lateral \(event)
                cross join lateral (select \(audienceLane) as lane offset 0) u
                where c.state in \(Channel.State.sql(.isIntent)) and c.called_at is null and c.event_key is not null
                    and (u.lane is null or e.channels_open_at > \(now)
                        or \(isOver) and \(pending(lane: "u.lane")) is null)))
            """, reason: "'no longer needed before it was created'", at: now)
    }

    /// Deletes those intents of channels `c` for which Apple was not asked.
    static func drop(
        _ which: PostgresQuery, with others: PostgresQuery? = nil, reason: PostgresQuery, at now: Date
    ) -> PostgresQuery {
        move(
            "c.called_at is null and \(which)", with: others, from: .isIntent, to: .deleted,
            reason: reason, at: now)
    }

    /// Inserts a row of `channels` for each audience that wants a channel and has none, once its event's channels may
    /// open (`channels_open_at`). `admit` decides whether the quota has room. An audience whose `end` was accepted
    /// needs no channel while its event continues for other audiences. An event that is over still gets a channel if
    /// messages wait for it.
    ///
    /// An event has few channels, so they are found by the event's key.
    private static func declare(now: Date) -> PostgresQuery {
        add(
            """
            select \(AudienceColumns.id), storage_policy, u.event_key, null::text, null::text from (
            select u.* from events e cross join lateral (select * from audiences where event_key = e.key offset 0) u
            where e.ended_at is null and e.cancelled_at is null
                and (e.channels_open_at is null or e.channels_open_at <= \(now))
                and \(channel("c.state in \(Channel.State.sql(.servesAudience))")) is null
                and (u.fenced_at is null or \(pending(lane: "u.lane"))) and \(AudienceColumns.wantsChannel("u"))
            union all
            select u.* from audiences u cross join lateral (select * from events where key = u.event_key offset 0) e
            where u.due_at is not null and u.channel is null and \(isOver)
                and (e.channels_open_at is null or e.channels_open_at <= \(now))
                and \(pending(lane: "u.lane")) and \(channel("true")) is null and \(AudienceColumns.wantsChannel("u"))
            ) u
            """, as: .failed, reason: "quota-exhausted", due: now, at: now)
    }

    /// Whether an audience `u` has a channel `c` that meets this condition; null: the audience has no such channel.
    private static func channel(_ condition: PostgresQuery) -> PostgresQuery {
        """
        (select true from channels c where c.event_key = u.event_key and \(AudienceColumns.serves("c", "u"))
            and \(condition) limit 1)
        """
    }
}

/// Automatically closes events whose organiser sends neither an `end` nor any other message.
extension ChannelStore {
    /// When the newest message of an event `e` was accepted or sent, or when the event was reopened; null: never.
    private static let lastSent: PostgresQuery = """
        greatest(
            \(EventStore.lastMessage),
            (select max(b.send_at) from (select newest_broadcast from audiences where event_key = e.key offset 0) u
                cross join lateral (select send_at from broadcasts where id = u.newest_broadcast offset 0) b))
        """

    /// When the newest message of an event `e` was accepted or sent, or will be sent; null: there is none.
    static let lastMessage: PostgresQuery = """
        greatest(\(lastSent), (select max(send_at) from broadcasts where event_key = e.key and scheduled))
        """

    /// The condition on an event `e`: it holds a channel that it should not need. Its `end` is late: `endsAt` is past, or
    /// without `endsAt` the time when it is closed. Or it is over, and the deletion of its channel is late.
    static func isOverdue(now: Date, tenure: ChannelTenure) -> PostgresQuery {
        let holds: PostgresQuery = "event_key is not null and state in \(Channel.State.sql(.countsAgainstQuota))"
        return """
            (e.key in (select event_key from channels where \(holds)) and case when \(isOver)
                then exists (
                    select from (select * from channels where event_key = e.key offset 0) c
                    where \(holds) and c.retire_at <= \(now))
                else coalesce(e.ends_at, greatest(e.created_at, e.channels_open_at, e.starts_at, \(lastMessage))
                    + make_interval(secs => \(tenure.quietAfter))) <= \(now) end)
            """
    }

    /// Closes the events that are overdue, and fences their lanes.
    ///
    /// - Returns: how many rows `closingOverdue` returned: one for each lane of the closed events, and one for a closed
    ///   event without lanes.
    static func closeOverdue(now: Date, tenure: ChannelTenure, on connection: PostgresConnection) async throws -> Int {
        let rows = try await connection.query(closingOverdue(now: now, tenure: tenure))
        let lanes = try rows.compactMap { try $0.decode(Int?.self, "lane") }
        WebhookNews.note(events: try rows.map { try $0.decode(String.self, "key") }, at: now)
        if !lanes.isEmpty { try await LaneRows.change("\(lanes)", at: now, on: connection) { $0.fence(at: now) } }
        return rows.count
    }

    /// Applies `ChannelTenure.closes` to the open events; an index finds these events. An event stays open while one of
    /// its messages is scheduled for later or waits on a lane.
    ///
    /// - Returns: a row for each `lane` of the closed events, with the event's `key`.
    private static func closingOverdue(now: Date, tenure: ChannelTenure) -> PostgresQuery {
        let overdue = now.addingTimeInterval(-ChannelTenure.overdueAfter)
        let quiet = now.addingTimeInterval(-tenure.quietAfter)
        let audit = AuditRows(by: .server, at: now)
        return """
            with overdue as (
                update events e set ended_at = \(now), expired_at = \(now), updated_at = \(now)
                where e.ended_at is null and e.cancelled_at is null and e.key = any(array(
                    select e.key from (
                        select key, reopened_at, \(overdue)::timestamptz as silent_since from events
                        where ended_at is null and cancelled_at is null and ends_at <= \(overdue)
                        union all
                        select key, reopened_at, \(quiet)::timestamptz from events
                        where ended_at is null and cancelled_at is null and ends_at is null
                            and greatest(starts_at, channels_open_at, created_at) <= \(quiet)
                    ) e
                    where coalesce(\(lastSent) <= e.silent_since, true)
                        and (select true from broadcasts where event_key = e.key and scheduled limit 1) is null
                        and (select true from (select lane from audiences where event_key = e.key offset 0) u
                            cross join lateral \(unsettled(lane: "u.lane")) d limit 1) is null))
                returning e.key, e.ends_at
            ), logged as (\(audit.insert(
                .eventExpired,
                channels: """
                    (select null::text as bundle_id, null::environment as environment, null::uuid as id,
                        null::text as channel_id, key as event_key, ends_at from overdue) c
                    """,
                reason: """
                    case when c.ends_at is null then 'it has no endsAt, and no message came for '
                            || \(tenure.quietAfter / 3_600)::float8 || ' hours'
                        else 'no end was sent for twelve hours after endsAt' end
                    """))
            )
            select o.key, u.lane from overdue o
            left join lateral (select lane from audiences where event_key = o.key offset 0) u on true
            """
    }
}
