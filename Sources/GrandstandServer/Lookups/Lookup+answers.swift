internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension LookupStore {
    /// The audiences that lookups of these names find, with their newest content. Unknown names are missing.
    func lookups(
        of names: Set<LookupName>, now: Date
    ) async throws -> [LookupName: (lookup: Contract.Lookup, wait: ChannelWait)] {
        let names = Array(names)
        let query: PostgresQuery =
            """
            select r.place, \(Self.audienceColumns), array(select v.variant from audiences v
                    where v.event_key = u.event_key and \(AudienceColumns.isOfSameApp("v", "u")) and v.variant <> ''
                    order by v.position) as variants,
                \(BroadcastRows.contentState("b", for: "u.variant")) as content_state, \(Self.timestamp) as timestamp
            from unnest(\(names.map(\.topic)), \(names.map(\.environment.rawValue)), \(names.map(\.key.rawValue)),
                \(names.map { $0.variant?.rawValue })) with ordinality as r(topic, environment, key, variant, place)
            cross join lateral (
                select bundle_id, r.environment::environment as environment from apps where topic = r.topic offset 0) a
            cross join lateral (\(AudienceColumns.first(
                of: "r.key", in: "a", where: "(r.variant is null or n.variant = r.variant)"))) u
            join events e on e.key = u.event_key join lanes l on l.id = u.lane
            left join channels c on c.id = l.channel and c.state in \(Channel.State.sql(.takesMessages))
            \(Self.refusal) left join broadcasts b on b.id = l.newest_broadcast
            """
        // One query serves many callers and runs in the task of one of them (`LookupContents`), so the query gets its
        // own time limit.
        let rows = try await PostgresTimeLimit.renewing { try await database.query(query) }
        var found: [LookupName: (Contract.Lookup, ChannelWait)] = [:]
        for row in rows {
            let name = names[try row.decode(Int.self, "place") - 1]
            let record = try Self.record(row, topic: name.topic, environment: name.environment)
            let lookup = record.lookup(
                of: name.key, variants: try row.decode([String].self, "variants").compactMap(Variant.init(rawValue:)),
                contentState: try row.decode(PostgresJSON?.self, "content_state").map { RawJSON(unchecked: $0.bytes) },
                timestamp: try row.decode("timestamp"), now: now)
            found[name] = (lookup, record.wait)
        }
        return found
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

    /// Joins, as `f`, the failed attempt to create a channel for the audience `u`, if `u` has no channel `c`.
    static let refusal: PostgresQuery = """
        left join lateral (
            select k.reason, k.next_attempt_at from channels k
            where c.channel_id is null and k.event_key = u.event_key and k.state = 'failed'
                and \(AudienceColumns.servesOfEvent("k", "u"))
            limit 1) f on true
        """
}
