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

    /// The event of a subject in the journal; `nil`: the subject is `events` (the answer for every event may have changed),
    /// `keys` (an API key was created, changed or revoked), or a word of another version.
    static func event(in subject: String) -> EventKey? {
        subject.hasPrefix("event ") ? EventKey(rawValue: String(subject.dropFirst(6))) : nil
    }

    /// A snapshot that sees everything, used to ask for the journal's present position.
    static let journalEnd = "9223372036854775807:9223372036854775807:"

    /// The subjects of the changes that were committed since `position`, and the journal's present position.
    ///
    /// A position is a snapshot, which shows exactly which rows became visible since. The numbers of a sequence would
    /// not show this: a transaction that begins early may commit late, and its rows then have numbers below those that
    /// were already read.
    func changes(since position: String) async throws -> (subjects: Set<String>, position: String) {
        // Ignore versions from `xmax` on. This database has not reached them; they came from a restored dump.
        let rows = try await database.query(
            """
            select s.snapshot::text as position, j.subject
            from (select pg_current_snapshot() as snapshot) s left join lookup_journal j
            on j.version >= pg_snapshot_xmin(\(position)::text::pg_snapshot)
                and j.version < pg_snapshot_xmax(s.snapshot)
                and not pg_visible_in_snapshot(j.version, \(position)::text::pg_snapshot)
            """)
        return (Set(try rows.compactMap { try $0.decode("subject") }), try rows[0].decode("position"))
    }

    /// Seconds after which rows of the journal may be deleted. A replica that has not read the journal for half of this
    /// time reads all records again.
    static let journalSeconds: TimeInterval = 300

    /// The keys of all events.
    func eventKeys() async throws -> [EventKey] {
        try await database.query("select key from events").map { try $0.word("key") }
    }

    /// The records of these events. Events that do not exist or have no audience are missing.
    ///
    /// The audiences of an event are in the order of their declaration, because lookups may take an app's first one.
    ///
    /// One audience may get its end before the others. A fenced lane has accepted its end and takes no later message, so
    /// an activity that is started for this audience could never be updated.
    func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] {
        let rows = try await database.query(
            """
            select e.key, a.topic as "apnsTopic", u.environment, u.lane, nullif(u.variant, '') as variant,
                u.storage_policy as "storagePolicy", u.delivery, c.channel_id as "channelID", e.starts_at as "startsAt",
                e.ends_at as "endsAt", e.first_update_at as "firstUpdateAt",
                coalesce(e.ended_at, u.fenced_at) as "endedAt", e.cancelled_at as "cancelledAt",
                e.channels_open_at as "opensAt", f.reason, f.next_attempt_at as "nextAttemptAt",
                case when e.ended_at is null and e.cancelled_at is null then e.name end as name, e.kind, e.topics
            from events e join audiences u on u.event_key = e.key
            join apps a on a.bundle_id = u.bundle_id
            left join channels c on c.id = u.channel and c.state in \(Channel.State.sql(.takesMessages))
            \(Self.failedCreationJoin)
            where e.key = any(\(keys.map(\.rawValue))) order by e.key, u.position
            """)
        return Dictionary(grouping: try rows.read(LookupRecord.self), by: \.key)
    }

    /// The newest content of lanes. A lane without a content is missing.
    ///
    /// The timestamp is the `aps.timestamp` that phones get with the content, by the lane's channel if it has one. Before
    /// the content is sent, it is the lowest timestamp that the content can get (`Lane.take`).
    func contents(of lanes: [Int]) async throws -> [Int: LookupContent] {
        // One query serves many callers and runs in the task of one of them (`LookupContents`), so the query gets its
        // own time limit.
        let rows = try await PostgresTimeLimit.renewing {
            try await database.query(
                """
                select u.lane, \(BroadcastRows.contentState("b", for: "u.variant")) as content_state,
                    coalesce((
                        select apns_timestamp from deliveries where broadcast_id = b.id and lane = u.lane
                            and (tokens is null) = (\(AudienceColumns.wantsChannel("u"))) limit 1),
                        greatest(floor(extract(epoch from greatest(b.accepted_at, b.send_at)))::bigint,
                            u.last_timestamp + 1, u.tokens_last_timestamp + 1)) as timestamp
                from audiences u join broadcasts b on b.id = u.newest_broadcast where u.lane = any(\(lanes))
                """)
        }
        return try rows.reduce(into: [:]) { contents, row in
            guard let json = try row.decode(PostgresJSON?.self, "content_state") else { return }
            contents[try row.decode("lane")] = (RawJSON(unchecked: json.bytes), try row.decode("timestamp"))
        }
    }

    /// Joins, as `f`, the failed attempt to create a channel for the audience `u`, if `u` has no channel `c`.
    static let failedCreationJoin: PostgresQuery = """
        left join lateral (
            select k.reason, k.next_attempt_at from channels k
            where c.channel_id is null and k.event_key = u.event_key and k.state = 'failed'
                and \(AudienceColumns.serves("k", "u"))
            limit 1) f on true
        """
}

/// Changes of lookups' answers by this process's own transactions. A change is reported when its transaction is over
/// and before the transaction's caller continues, so that whoever was told of the change gets no older answer from this
/// process. The notice saves a round trip to the journal, and costs nothing for transactions that change no answer.
package final class LocalChanges: Sendable {
    private let hearer = Mutex<(@Sendable ([String]) -> Void)?>(nil)

    init() {}

    /// - Parameter hear: called with the subjects of each transaction that changed some. `hear` must not block.
    func follow(_ hear: @escaping @Sendable ([String]) -> Void) { hearer.withLock { $0 = hear } }

    /// Takes the notices of a transaction. Those of the triggers have their own `errcode`.
    func hear(_ notices: [PostgresError]) {
        let subjects = notices.filter { $0.sqlState?.rawValue == "GS001" }.map(\.message)
        if !subjects.isEmpty { hearer.withLock(\.self)?(subjects) }
    }

    /// The setting that a session needs so that the triggers notify it, whatever the role's own settings are.
    static let sessionSettings = ["grandstand.notices": "on", "client_min_messages": "notice"]
}
