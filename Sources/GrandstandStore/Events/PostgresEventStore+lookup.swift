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
            ? "\(BroadcastRows.contentState("b", for: "u.variant")) as content_state, floor(extract(epoch from b.accepted_at))::bigint as accepted"
            : "null::json as content_state, null::bigint as accepted"
        let broadcasts: PostgresQuery = contentState ? "left join broadcasts b on b.id = l.newest_broadcast" : ""
        let rows = try await database.query(
            """
            select r.place, e.key, e.starts_at, e.ends_at, e.first_update_at, \(Self.audienceEnd), e.cancelled_at,
                u.variant, u.storage_policy, u.delivery, c.channel_id, e.channels_open_at, \(content)
            from unnest(\(names.map(\.topic)), \(names.map(\.environment.rawValue)), \(names.map(\.key.rawValue)),
                \(names.map { $0.variant?.rawValue })) with ordinality as r(topic, environment, key, variant, place)
            cross join lateral (
                select bundle_id, r.environment::environment as environment from apps where topic = r.topic offset 0) a
            cross join lateral (\(AudienceColumns.first(
                of: "r.key", in: "a", where: "(r.variant is null or n.variant = r.variant)"))) u
            join events e on e.key = u.event_key join lanes l on l.id = u.lane
            left join channels c on c.id = l.channel and c.state in \(Channel.State.sql(.takesMessages))
            \(broadcasts)
            """)
        var entries: [LookupName: LookupEntry] = [:]
        for row in rows {
            let place: Int = try row.decode("place")
            entries[names[place - 1]] = LookupEntry(
                eventKey: try row.word("key"), state: try Self.state(row, now: now),
                storagePolicy: try row.word("storage_policy"), channelID: try row.decode("channel_id"),
                startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"),
                contentState: try row.decode(PostgresJSON?.self, "content_state")?.bytes,
                timestamp: try row.decode("accepted"), delivery: try row.word("delivery"),
                variant: try row.variant("variant"), opensAt: try row.decode("channels_open_at"))
        }
        return entries
    }

    /// When the event was over for the audience of lane `l`, as `ended_at`: with its own end, which may come before the
    /// others. What is started on a closed lane could never be updated.
    static let audienceEnd: PostgresQuery = "coalesce(e.ended_at, l.fenced_at) as ended_at"
}
