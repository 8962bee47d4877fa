internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Lookups' records in the tables. Every change of a record adds a line to a journal and is announced, in the
/// transaction of the change (`Lookup+feed`). The announcement is fast. The journal is complete: it has exactly the
/// changes that were committed since an earlier position.
struct LookupStore: Sendable {
    let database: Database

    /// The records of these events. Events that do not exist or have no audience are missing.
    func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] {
        let names = keys.map(\.rawValue)
        return try Self.read(
            try await database.query(
                "select \(Self.columns) from events e \(Self.joins) where e.key = any(\(names)) \(Self.order)"))
    }

    /// The next events in order of their keys, with their records.
    ///
    /// - Parameter after: the last key of the page before; `nil` for the first page.
    /// - Returns: at most `limit` events, and the key after which the next page begins; `nil` after the last page.
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

    /// The columns that `record(_:topic:environment:listing:)` reads: of the event `e`, its audience `u`, the lane `l`,
    /// the channel `c`, and `refusal`.
    ///
    /// One audience may get its end before the others. A fenced lane has accepted its end and takes no later message,
    /// so an activity that is started for this audience could never be updated.
    static let audienceColumns: PostgresQuery = """
        e.starts_at, e.ends_at, e.first_update_at, coalesce(e.ended_at, l.fenced_at) as ended_at, e.cancelled_at,
        u.variant, u.storage_policy, u.delivery, c.channel_id, e.channels_open_at, f.reason as refusal,
        f.next_attempt_at
        """

    private static let columns: PostgresQuery = """
        e.key, a.topic, u.environment, \(audienceColumns),
        case when e.ended_at is null and e.cancelled_at is null then e.name end as name, e.kind, e.topics
        """

    /// An event without audiences has one row, too, because a page of the list must be able to end with it.
    private static let joins: PostgresQuery = """
        left join audiences u on u.event_key = e.key left join apps a on a.bundle_id = u.bundle_id
        left join lanes l on l.id = u.lane
        left join channels c on c.id = l.channel and c.state in \(Channel.State.sql(.takesMessages))
        \(refusal)
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
                try record(row, topic: topic, environment: try row.word("environment"), listing: listings?.listing))
        }
        return records
    }

    /// Reads `audienceColumns`.
    static func record(
        _ row: PostgresRow, topic: String, environment: APNsEnvironment, listing: EventListing? = nil
    ) throws -> LookupRecord {
        let refusal = try row.decode(Date?.self, "next_attempt_at").map { next in
            ChannelWait.Refusal(reason: try row.decode("refusal"), nextAttemptAt: next)
        }
        return LookupRecord(
            topic: topic, environment: environment, storagePolicy: try row.word("storage_policy"),
            channelID: try row.decode("channel_id"), delivery: try row.word("delivery"),
            startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"),
            firstUpdateAt: try row.decode("first_update_at"), endedAt: try row.decode("ended_at"),
            cancelledAt: try row.decode("cancelled_at"), variant: try row.variant("variant"), listing: listing,
            wait: ChannelWait(opensAt: try row.decode("channels_open_at"), refusal: refusal))
    }

    /// The entry of a row's event in lists; `nil` for an event that is over.
    private static func listing(_ row: PostgresRow) throws -> EventListing? {
        guard let name = try row.decode(String?.self, "name") else { return nil }
        return EventListing(name: name, kind: try row.decode("kind"), topics: try row.topics())
    }
}
