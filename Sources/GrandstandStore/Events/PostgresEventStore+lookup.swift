package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresEventStore {
    package func lookup(
        topic: String, in environment: APNsEnvironment, _ key: EventKey, contentState: Bool, now: Date
    ) async throws -> LookupEntry? {
        let rows = try await database.query(
            contentState
                ? """
                select \(Self.lookupColumns), b.content_state, floor(extract(epoch from b.accepted_at))::bigint as accepted
                \(Self.lookupTables) left join broadcasts b on b.id = l.newest_broadcast
                where a.topic = \(topic) and u.environment = \(environment.rawValue)::environment
                    and u.event_key = \(key.rawValue)
                """
                : """
                select \(Self.lookupColumns), null::json as content_state, null::bigint as accepted
                \(Self.lookupTables)
                where a.topic = \(topic) and u.environment = \(environment.rawValue)::environment
                    and u.event_key = \(key.rawValue)
                """)
        guard let row = rows.first else { return nil }
        return LookupEntry(
            eventKey: try row.word("key"), state: try Self.state(row, now: now),
            storagePolicy: try row.word("storage_policy"), channelID: try row.decode("channel_id"),
            startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"),
            contentState: try row.decode(PostgresJSON?.self, "content_state")?.bytes,
            timestamp: try row.decode("accepted"))
    }

    private static let lookupColumns: PostgresQuery = """
        e.key, e.starts_at, e.ends_at, e.first_update_at, \(audienceEnd), e.cancelled_at, u.storage_policy, c.channel_id
        """

    /// When the event was over for the audience of lane `l`, as `ended_at`: with its own end, which may come before the
    /// others'. What is started on a closed lane's channel could never be updated.
    static let audienceEnd: PostgresQuery = "coalesce(e.ended_at, l.fenced_at) as ended_at"

    private static let lookupTables: PostgresQuery = """
        from apps a join audiences u on u.bundle_id = a.bundle_id
        join events e on e.key = u.event_key join lanes l on l.id = u.lane
        left join channels c on c.id = l.channel and c.state in ('active', 'retiring')
        """
}
