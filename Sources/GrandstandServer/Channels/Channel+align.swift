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
            let closed = try await Self.closeOverdueEvents(now: now, tenure: tenure, on: connection)
            return try await connection.pipeline([
                Self.retire(now: now, tenure: tenure),
                Self.giveUp(now: now),
                Self.addIntents(now: now),
                Self.lockQuotas(now: now),
                Self.admit(now: now),
            ]).reduce(closed) { $0 + $1.affectedRows }
        }
    }

    /// The lock is held until the commit, so that no other replica aligns meanwhile. Its number is arbitrary.
    static let lockAlignment: PostgresQuery = "select pg_advisory_xact_lock(7230518204417734)"

    /// An event `e` that takes no more broadcasts.
    static let isOver: PostgresQuery = "(e.ended_at is not null or e.cancelled_at is not null)"

    /// The event `e` of a channel `c`.
    static let event: PostgresQuery = "(select * from events where key = c.event_key offset 0) e"

    /// The lane of the audience that a channel `c` with an event serves. Null: the event no longer has that audience,
    /// or the audience wants another channel or none.
    static let audienceLane = lane("true")

    /// As `audienceLane`, but null if the lane is fenced because its `end` was accepted: no message follows, so the
    /// audience needs no channel.
    static let openLane = lane("u.fenced_at is null")

    private static func lane(_ condition: PostgresQuery) -> PostgresQuery {
        """
        (select u.lane from audiences u where u.event_key = c.event_key and \(AudienceColumns.serves("u", "c"))
            and \(AudienceColumns.wantsChannel("u")) and \(condition))
        """
    }

    /// Whether a message of a lane to its channel is not settled yet; null: every message is settled.
    static func pending(lane: PostgresQuery) -> PostgresQuery {
        "(select true from deliveries where lane = \(lane) and settled_at is null and tokens is null limit 1)"
    }

    /// Whether a message of a lane is not settled yet, also one to tokens; null: every message is settled.
    static func hasUnsettled(lane: PostgresQuery) -> PostgresQuery {
        "(select true from deliveries where lane = \(lane) and settled_at is null limit 1)"
    }

    /// Until when a device may need a channel `c`: until stored messages have expired and ended activities are
    /// dismissed.
    static let neededUntil: PostgresQuery =
        "greatest(c.needed_until, (select max(stored_until) from audiences where channel = c.id))"

    /// Retires channels that no audience needs, once the last message to them is settled. A retiring channel is deleted
    /// when no device can need it any more, but not before `retireAfter` has passed (docs/internals/apns.md section 8).
    ///
    /// An event may need its place earlier (`admit`).
    private static func retire(now: Date, tenure: ChannelTenure) -> PostgresQuery {
        let audit = AuditRows(by: .server, at: now)
        return """
            with due as materialized (
                select c.id, \(neededUntil) as needed_until, e.ended_at, e.cancelled_at
                from channels c cross join lateral \(event)
                where c.state = 'active' and c.event_key is not null
                    -- `case`: messages are only looked for if the channel may retire.
                    and case when \(isOver) or \(openLane) is null then
                        (select true from audiences l cross join lateral \(pending(lane: "l.lane")) d
                        where l.channel = c.id limit 1) is null end
            ), retired as (
                \(move(
                    "c.id = t.id and c.id = any(array(select id from due))", with: "due t", from: [.active],
                    to: .retiring, due: """
                        greatest(t.needed_until, coalesce(t.ended_at, t.cancelled_at, \(now))
                            + make_interval(secs => \(tenure.retireAfter)))
                        """, also: ", needed_until = t.needed_until", at: now))
            )
            \(audit.insert(.channelRetired, channels: "retired c", reason: "null"))
            """
    }

    /// Gives up the channels of events that Apple no longer has, so that the events can get others, and intents to create
    /// a channel that are not needed any more, or not yet because the time at which the event's channels open
    /// (`channels_open_at`) was moved. An intent stays if Apple was asked to create its channel.
    private static func giveUp(now: Date) -> PostgresQuery {
        move(
            """
            c.called_at is null and c.id = any(array(
                select id from channels where state = 'missing' and event_key is not null
                union all
                select c.id from channels c cross join lateral \(event)
                cross join lateral (select \(audienceLane) as lane offset 0) u
                where c.state in \(Channel.State.sql(.intents)) and c.called_at is null
                    and c.event_key is not null and (u.lane is null or e.channels_open_at > \(now)
                        or \(isOver) and \(pending(lane: "u.lane")) is null)))
            """, from: [.creating, .failed, .missing], to: .deleted,
            reason: "'no longer needed, or APNs no longer had it'", at: now)
    }

    /// Inserts a row of `channels` for each audience that wants a channel and has none, once its event's channels may
    /// open (`channels_open_at`). `admit` decides whether the quota has room. An audience whose `end` was accepted
    /// needs no channel while its event continues for other audiences. An event that is over still gets a channel if
    /// messages wait for it.
    ///
    /// An event has few channels, so they are found by the event's key.
    private static func addIntents(now: Date) -> PostgresQuery {
        add(
            """
            select \(AudienceColumns.id), storage_policy, u.event_key, null::text, null::text from (
            select u.* from \(unserved) and (e.channels_open_at is null or e.channels_open_at <= \(now))
                and (u.fenced_at is null or \(pending(lane: "u.lane")))
            union all
            select u.* from audiences u cross join lateral (select * from events where key = u.event_key offset 0) e
            where u.due_at is not null and u.channel is null and \(isOver)
                and (e.channels_open_at is null or e.channels_open_at <= \(now))
                and \(pending(lane: "u.lane")) and \(hasChannel("true")) is null and \(AudienceColumns.wantsChannel("u"))
            ) u
            """, as: .failed, reason: "quota-exhausted", due: now, at: now)
    }

    /// The audiences `u` of open events `e` that want a channel and have none. Further conditions may follow.
    static let unserved: PostgresQuery = """
        events e cross join lateral (select * from audiences where event_key = e.key offset 0) u
        where e.ended_at is null and e.cancelled_at is null and \(AudienceColumns.wantsChannel("u"))
            and \(hasChannel("c.state in \(Channel.State.sql(.servesAudience))")) is null
        """

    /// Whether an audience `u` has a channel `c` that meets this condition; null: the audience has no such channel.
    private static func hasChannel(_ condition: PostgresQuery) -> PostgresQuery {
        """
        (select true from channels c where c.event_key = u.event_key and \(AudienceColumns.serves("c", "u"))
            and \(condition) limit 1)
        """
    }
}

/// Automatically closes events whose organiser sends neither an `end` nor any other message.
extension ChannelStore {
    /// When the newest message of an event `e` was accepted or sent, or when the event was reopened; null: never.
    private static let quietSince: PostgresQuery = """
        greatest(
            \(EventStore.lastMessage),
            (select max(b.send_at) from (select newest_broadcast from audiences where event_key = e.key offset 0) u
                cross join lateral (select send_at from broadcasts where id = u.newest_broadcast offset 0) b))
        """

    /// When the newest message of an event `e` was accepted or sent, or will be sent; null: there is none.
    static let lastMessage: PostgresQuery = """
        greatest(\(quietSince), (select max(send_at) from broadcasts where event_key = e.key and scheduled))
        """

    /// The condition on an event `e`: it holds a channel that it should not need. Its `end` is late: `endsAt` is past, or
    /// without `endsAt` the time when it is closed. Or it is over, and the deletion of its channel is late.
    static func isEventLate(now: Date, tenure: ChannelTenure) -> PostgresQuery {
        let holds: PostgresQuery = "event_key is not null and state in \(Channel.State.sql(.countsAgainstQuota))"
        return """
            (e.key in (select event_key from channels where \(holds)) and case when \(isOver)
                then exists (
                    select from (select * from channels where event_key = e.key offset 0) c
                    where c.state = 'deleting' or c.state = 'retiring' and c.next_attempt_at <= \(now))
                else coalesce(e.ends_at, greatest(e.created_at, e.channels_open_at, e.starts_at, \(lastMessage))
                    + make_interval(secs => \(tenure.quietAfter))) <= \(now) end)
            """
    }

    /// Closes the events that are overdue by `ChannelTenure.closesAt`, and fences their lanes. An index finds the
    /// events. An event stays open while one of its messages is scheduled for later or waits on a lane.
    ///
    /// - Returns: how many events were closed.
    private static func closeOverdueEvents(
        now: Date, tenure: ChannelTenure, on connection: PostgresConnection
    ) async throws -> Int {
        let overdue = now.addingTimeInterval(-ChannelTenure.overdueAfter)
        let quiet = now.addingTimeInterval(-tenure.quietAfter)
        let closed: [EventKey] = try await connection.query(
            """
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
                where coalesce(\(quietSince) <= e.silent_since, true)
                    and (select true from broadcasts where event_key = e.key and scheduled limit 1) is null
                    and (select true from (select lane from audiences where event_key = e.key offset 0) u
                        cross join lateral \(hasUnsettled(lane: "u.lane")) d limit 1) is null))
            returning e.key
            """
        ).map { try $0.word("key") }
        guard !closed.isEmpty else { return 0 }
        let keys = closed.map(\.rawValue)
        WebhookNews.note(events: keys, at: now)
        let audit = AuditRows(by: .server, at: now)
        try await connection.pipeline(
            closed.map { audit.insert(.eventExpired, AuditSubject(eventKey: $0), reason: "no end was sent in time") })
        let lanes: PostgresQuery = "(array(select lane from audiences where event_key = any(\(keys))))"
        try await LaneRows.change(lanes, at: now, on: connection) { $0.fence(at: now) }
        return closed.count
    }
}
