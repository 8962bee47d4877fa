internal import Grandstand
internal import Postgres

extension StartStanding {
    /// The columns of a standing, of events `e`, their starts `s`, app_environments `ae`, audiences `u`, and `joins`.
    static let columns: PostgresQuery = """
        ae.bundle_id as "bundleId", ae.environment, coalesce(u.variant, '') as variant, e.topics,
        case when u.lane is not null then s.declaration end as start, e.starts_at as "startsAt", e.ends_at as "endsAt",
        s.asked_at as "askedAt", \(EventStore.lastMessage) as "lastMessageAt", s.stopped_at is not null as "isStopped",
        e.ended_at is not null or e.cancelled_at is not null or u.fenced_at is not null or u.closed_at is not null
            as "isEventOver",
        e.defaults, coalesce(u.delivery, 'channel') as delivery, c.channel_id as channel,
        coalesce(f.reason in \(ChannelStore.whyNoRoom), false)
            as "lacksRoom",
        b.id as "newest.broadcast", b.content as "newest.contentState", b.stale_date as "newest.staleDate",
        b.relevance_score as "newest.relevanceScore",
        coalesce(greatest(u.last_timestamp, u.tokens_last_timestamp), 0) as "lastTimestamp"
        """

    /// The broadcast `b` that has the audience's newest content, and the channel `c`.
    static let joins: PostgresQuery = """
        left join lateral (
            select channel_id from channels where id = u.channel and state = 'active' offset 0) c on true
        left join lateral (
            select b.*, \(BroadcastRows.contentState("b", for: "u.variant")) as content from broadcasts b
            where b.id = u.newest_broadcast offset 0) b on b.content is not null
        \(LookupStore.failedCreationJoin)
        """
}
