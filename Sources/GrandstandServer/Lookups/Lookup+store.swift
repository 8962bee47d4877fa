internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Lookups' records in the tables. `PostgresLookupSource+feed` tells which records have changed.
struct PostgresLookupSource: LookupSource {
    let database: Database

    init(_ database: Database) { self.database = database }

    func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] {
        let names = keys.map(\.rawValue)
        return try Self.read(
            try await database.query(
                "select \(Self.columns) from events e \(Self.joins) where e.key = any(\(names)) \(Self.order)"))
    }

    func page(after: EventKey?, limit: Int) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?) {
        let rows = try await database.query(
            """
            select \(Self.columns)
            from (select * from events where key > \(after?.rawValue ?? "") order by key limit \(limit)) e
            \(Self.joins) \(Self.order)
            """)
        let records = try Self.read(rows)
        return (records, try rows.last?.word("key", as: EventKey.self))
    }

    private static let columns: PostgresQuery = """
        e.key, e.starts_at, e.ends_at, e.first_update_at, \(PostgresEventStore.audienceEnd), e.cancelled_at, a.topic,
        u.environment, u.variant, u.storage_policy, u.delivery, c.channel_id, \(PostgresEventStore.waitColumns),
        case when e.ended_at is null and e.cancelled_at is null then e.name end as name, e.kind, e.topics
        """

    /// An event without audiences has one row, too, because a page of the list must be able to end with it.
    private static let joins: PostgresQuery = """
        left join audiences u on u.event_key = e.key left join apps a on a.bundle_id = u.bundle_id
        left join lanes l on l.id = u.lane
        left join channels c on c.id = l.channel and c.state in \(Channel.State.sql(.takesMessages))
        \(PostgresEventStore.refusal)
        """

    /// Each event's audiences in the order of their declaration, because lookups may take an app's first audience.
    private static let order: PostgresQuery = "order by e.key, u.position"

    private static func read(_ rows: PostgresRows) throws -> [EventKey: [LookupRecord]] {
        var records: [EventKey: [LookupRecord]] = [:]
        // Many events share few apps, so the names of apps are kept once.
        var topics: Set<String> = []
        var listings: (key: EventKey, listing: EventListing?)?
        for row in rows {
            guard let read = try row.decode(String?.self, "topic") else { continue }
            let topic = topics.insert(read).memberAfterInsert
            let key: EventKey = try row.word("key")
            // The rows of one event follow each other, so one `listing` is made for all of them.
            if listings?.key != key { listings = (key, try listing(row)) }
            records[key, default: []].append(
                LookupRecord(
                    topic: topic, environment: try row.word("environment"),
                    storagePolicy: try row.word("storage_policy"), channelID: try row.decode("channel_id"),
                    delivery: try row.word("delivery"),
                    startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"),
                    firstUpdateAt: try row.decode("first_update_at"), endedAt: try row.decode("ended_at"),
                    cancelledAt: try row.decode("cancelled_at"), variant: try row.variant("variant"),
                    listing: listings?.listing, wait: try row.channelWait()))
        }
        return records
    }

    /// The entry of a row's event in lists; `nil` for an event that is over.
    private static func listing(_ row: PostgresRow) throws -> EventListing? {
        guard let name = try row.decode(String?.self, "name") else { return nil }
        return EventListing(name: name, kind: try row.decode("kind"), topics: try row.topics())
    }
}
