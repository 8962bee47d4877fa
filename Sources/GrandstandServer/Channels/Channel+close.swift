internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Automatically closes events whose organiser sends neither an `end` nor any other message.
extension ChannelStore {
    /// When the newest message of an event `e` was accepted or sent, or when the event was reopened; null: never.
    private static let lastSent: PostgresQuery = """
        greatest(
            \(EventStore.lastMessage),
            (select max(b.send_at) from (select lane from audiences where event_key = e.key offset 0) u
                cross join lateral (select newest_broadcast from lanes where id = u.lane offset 0) l
                cross join lateral (select send_at from broadcasts where id = l.newest_broadcast offset 0) b))
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
