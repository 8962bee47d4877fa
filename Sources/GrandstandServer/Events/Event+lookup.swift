internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresEventStore {
    package func lookups(
        of names: Set<LookupName>, contentState: Bool, now: Date
    ) async throws -> [LookupName: LookupEntry] {
        let names = Array(names)
        let content: PostgresQuery =
            contentState
            ? "\(BroadcastRows.contentState("b", for: "u.variant")) as content_state, \(Self.timestamp) as timestamp"
            : "null::json as content_state, null::bigint as timestamp"
        let broadcasts: PostgresQuery = contentState ? "left join broadcasts b on b.id = l.newest_broadcast" : ""
        let query: PostgresQuery =
            """
            select r.place, e.key, e.starts_at, e.ends_at, e.first_update_at, \(Self.audienceEnd), e.cancelled_at,
                u.variant, array(select v.variant from audiences v
                    where v.event_key = u.event_key and \(AudienceColumns.isOfSameApp("v", "u")) and v.variant <> ''
                    order by v.position) as variants,
                u.storage_policy, u.delivery, c.channel_id, \(Self.waitColumns), \(content)
            from unnest(\(names.map(\.topic)), \(names.map(\.environment.rawValue)), \(names.map(\.key.rawValue)),
                \(names.map { $0.variant?.rawValue })) with ordinality as r(topic, environment, key, variant, place)
            cross join lateral (
                select bundle_id, r.environment::environment as environment from apps where topic = r.topic offset 0) a
            cross join lateral (\(AudienceColumns.first(
                of: "r.key", in: "a", where: "(r.variant is null or n.variant = r.variant)"))) u
            join events e on e.key = u.event_key join lanes l on l.id = u.lane
            left join channels c on c.id = l.channel and c.state in \(Channel.State.sql(.takesMessages))
            \(Self.refusal) \(broadcasts)
            """
        // One query serves many callers and runs in the task of one of them (`LookupContents`), so the query gets its
        // own time limit.
        let rows = try await PostgresTimeLimit.renewing { try await database.query(query) }
        var entries: [LookupName: LookupEntry] = [:]
        for row in rows {
            let place: Int = try row.decode("place")
            entries[names[place - 1]] = LookupEntry(
                eventKey: try row.word("key"), state: try Self.state(row, now: now),
                storagePolicy: try row.word("storage_policy"), channelID: try row.decode("channel_id"),
                startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"),
                contentState: try row.decode(PostgresJSON?.self, "content_state")?.bytes,
                timestamp: try row.decode("timestamp"), delivery: try row.word("delivery"),
                variant: try row.variant("variant"),
                variants: try row.decode([String].self, "variants").compactMap(Variant.init(rawValue:)),
                wait: try row.channelWait())
        }
        return entries
    }

    /// The `aps.timestamp` that phones get with the broadcast `b`. An audience `u` may have several lanes (channel,
    /// tokens); this is the timestamp on the leading lane, which the other lanes follow. Before the broadcast is sent,
    /// this is the lowest timestamp that the broadcast can get (`Lane.take`).
    private static let timestamp: PostgresQuery = """
        (select coalesce(
            (select apns_timestamp from deliveries where broadcast_id = b.id and lane = lead.id limit 1),
            greatest(floor(extract(epoch from greatest(b.accepted_at, b.send_at)))::bigint, lead.last_timestamp + 1))
        from audience_lanes v cross join lateral (
            select id, last_timestamp from lanes where id = v.lane offset 0) lead
        where v.event_key = u.event_key and v.audience_lane = u.lane and v.is_lead and b.id is not null)
        """

    /// When the event ended for the audience of lane `l`, as `ended_at`. One audience may get its end before the
    /// others. A fenced lane has accepted its end and takes no later message, so an activity that is started for this
    /// audience could never be updated.
    static let audienceEnd: PostgresQuery = "coalesce(e.ended_at, l.fenced_at) as ended_at"

    /// The columns of the event `e` and of `refusal` that `channelWait` reads. They show why there is no channel.
    static let waitColumns: PostgresQuery = "e.channels_open_at, f.reason as refusal, f.next_attempt_at"

    /// Joins, as `f`, the failed attempt to create a channel for the audience `u`, if `u` has no channel `c`.
    static let refusal: PostgresQuery = """
        left join lateral (
            select k.reason, k.next_attempt_at from channels k
            where c.channel_id is null and k.event_key = u.event_key and k.state = 'failed'
                and \(AudienceColumns.servesOfEvent("k", "u"))
            limit 1) f on true
        """
}

extension PostgresRow {
    /// Reads the columns `PostgresEventStore.waitColumns`.
    func channelWait() throws -> ChannelWait {
        let refusal = try decode(Date?.self, "next_attempt_at").map { next in
            ChannelWait.Refusal(reason: try decode("refusal"), nextAttemptAt: next)
        }
        return ChannelWait(opensAt: try decode("channels_open_at"), refusal: refusal)
    }
}
