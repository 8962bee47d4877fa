internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres
internal import Synchronization

/// Lookups' records in the tables, and the journal of their changes. Triggers write each change of a record to the
/// journal in the transaction of the change. They also send a notification to every process, and a notice to the
/// session that made the change (`LocalChanges`); both only say that there is something to read.
struct LookupStore: Sendable {
    let database: Database

    /// What has changed, in the triggers' words.
    enum Subject: Sendable, Hashable {
        /// The answer for an event may have changed, or the event was removed.
        case event(EventKey)
        /// The answer for every event may have changed.
        case everything
        /// An API key was created, changed or revoked.
        case keys

        /// - Returns: `nil` for words of another version.
        init?(_ text: String) {
            switch text {
            case "events": self = .everything
            case "keys": self = .keys
            default:
                guard text.hasPrefix("event "), let key = EventKey(rawValue: String(text.dropFirst(6))) else {
                    return nil
                }
                self = .event(key)
            }
        }
    }

    /// The channel of the notifications.
    static let channel = "grandstand_lookup"

    /// A snapshot that sees everything, used to ask for the journal's present position.
    static let newest = "9223372036854775807:9223372036854775807:"

    /// The subjects of the changes that were committed since `position`, and the journal's present position.
    ///
    /// A position is a snapshot, which shows exactly which rows became visible since. The numbers of a sequence would
    /// not show this: a transaction that begins early may commit late, and its rows then have numbers below those that
    /// were already read.
    func changes(since position: String) async throws -> (subjects: Set<Subject>, position: String) {
        // Ignore versions from `xmax` on. This database has not reached them; they came from a restored dump.
        let rows = try await database.query(
            """
            select s.snapshot::text as position, j.subject
            from (select pg_current_snapshot() as snapshot) s left join lookup_journal j
            on j.version >= pg_snapshot_xmin(\(position)::text::pg_snapshot)
                and j.version < pg_snapshot_xmax(s.snapshot)
                and not pg_visible_in_snapshot(j.version, \(position)::text::pg_snapshot)
            """)
        let subjects = try rows.compactMap { try $0.decode(String?.self, "subject").flatMap(Subject.init) }
        return (Set(subjects), try rows[0].decode("position"))
    }

    /// Seconds after which rows of the journal are deleted. A replica that has not read the journal for this time reads
    /// all records again.
    static let journalSeconds = 300

    /// Deletes the rows of the journal that every replica has read or will not need.
    func tidy() async throws {
        try await database.query(
            "delete from lookup_journal where at < now() - make_interval(secs => \(Self.journalSeconds)::int)")
    }

    /// The records of these events. Events that do not exist or have no audience are missing.
    ///
    /// The audiences of an event are in the order of their declaration, because lookups may take an app's first one.
    func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] {
        let rows = try await database.query(
            """
            select \(Self.columns) from events e \(Self.joins)
            where e.key = any(\(keys.map(\.rawValue))) order by e.key, u.position
            """)
        var records: [EventKey: [LookupRecord]] = [:]
        // Many events share few apps, so the names of apps are kept once.
        var topics: Set<String> = []
        for row in rows {
            let topic = topics.insert(try row.decode("topic")).memberAfterInsert
            let key: EventKey = try row.word("key")
            let listing = try records[key]?.first?.listing ?? Self.listing(row)
            records[key, default: []].append(
                try Self.record(row, topic: topic, environment: try row.word("environment"), listing: listing))
        }
        return records
    }

    /// The next events in order of their keys, at most `limit`.
    ///
    /// - Parameter after: the last key of the page before; `nil` for the first page.
    func keys(after: EventKey?, limit: Int) async throws -> [EventKey] {
        try await database.query(
            "select key from events where key > \(after?.rawValue ?? "") order by key limit \(limit)"
        ).map { try $0.word("key") }
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

    private static let joins: PostgresQuery = """
        join audiences u on u.event_key = e.key join apps a on a.bundle_id = u.bundle_id join lanes l on l.id = u.lane
        left join channels c on c.id = l.channel and c.state in \(Channel.State.sql(.takesMessages))
        \(refusal)
        """

    /// Reads `audienceColumns`.
    static func record(
        _ row: PostgresRow, topic: String, environment: APNsEnvironment, listing: LookupRecord.Listing? = nil
    ) throws -> LookupRecord {
        LookupRecord(
            topic: topic, environment: environment, storagePolicy: try row.word("storage_policy"),
            channelID: try row.decode("channel_id"), delivery: try row.word("delivery"),
            startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"),
            firstUpdateAt: try row.decode("first_update_at"), endedAt: try row.decode("ended_at"),
            cancelledAt: try row.decode("cancelled_at"), variant: try row.variant("variant"), listing: listing,
            wait: ChannelWait(
                opensAt: try row.decode("channels_open_at"), nextAttemptAt: try row.decode("next_attempt_at"),
                reason: try row.decode("refusal")))
    }

    /// The entry of a row's event in lists; `nil` for an event that is over.
    private static func listing(_ row: PostgresRow) throws -> LookupRecord.Listing? {
        guard let name = try row.decode(String?.self, "name") else { return nil }
        return LookupRecord.Listing(name: name, kind: try row.decode("kind"), topics: try row.topics())
    }
}

/// Changes of lookups' answers by this process's own transactions. A change is reported when its transaction is over
/// and before the transaction's caller continues, so that whoever was told of the change gets no older answer from this
/// process. The notice saves a round trip to the journal, and costs nothing for transactions that change no answer.
package final class LocalChanges: Sendable {
    private let hearer = Mutex<(@Sendable ([LookupStore.Subject]) -> Void)?>(nil)

    init() {}

    /// - Parameter hear: called with the subjects of each transaction that changed some. `hear` must not block.
    func follow(_ hear: @escaping @Sendable ([LookupStore.Subject]) -> Void) {
        hearer.withLock { $0 = hear }
    }

    var notices: PostgresNotices {
        PostgresNotices(sqlState: PostgresSQLState(rawValue: "GS001")) { [self] messages in
            hearer.withLock(\.self)?(messages.compactMap(LookupStore.Subject.init))
        }
    }

    /// The setting that a session needs so that the triggers notify it, whatever the role's own settings are.
    static let sessionSettings = ["grandstand.notices": "on", "client_min_messages": "notice"]
}

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

    /// The `aps.timestamp` that phones of the audience `u` get with the broadcast `b`, by its channel if it has one. Before
    /// the broadcast is sent, this is the lowest timestamp that the broadcast can get (`Lane.take`).
    private static let timestamp: PostgresQuery = """
        (select coalesce(
            (select apns_timestamp from deliveries
            where broadcast_id = b.id and lane = u.lane and (tokens is null) = (\(AudienceColumns.wantsChannel("u"))) limit 1),
            greatest(floor(extract(epoch from greatest(b.accepted_at, b.send_at)))::bigint,
                l.last_timestamp + 1, l.tokens_timestamp + 1))
        where b.id is not null)
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
