internal import Grandstand
internal import Postgres
internal import Synchronization

/// Triggers announce each change in its transaction in three ways: a notification to every process that listens, a
/// notice to the session that made the change, and a row of `lookup_journal` for processes that received neither.
///
/// PostgreSQL snapshots show which rows of the journal became visible since the last read. Numbers of a sequence do not
/// show this, because transactions commit in another order than they begin.
extension LookupStore {
    // MARK: Announcements

    private static let channel = "grandstand_lookup"

    /// The changes as they are committed, while the stream has a listener.
    func announcements() -> AsyncStream<LookupAnnouncement> {
        let notifications = database.pool.notifications(on: [Self.channel])
        return AsyncStream { continuation in
            let task = Task {
                for await notification in notifications {
                    switch notification {
                    case .listening: continuation.yield(.listening)
                    case .notification(_, let payload):
                        guard let change = Self.change(payload) else { continue }
                        continuation.yield(.change(change))
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// A notification's payload: the version and the subject.
    private static func change(_ payload: String) -> LookupChange? {
        let parts = payload.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let version = UInt64(parts[0]), let subject = Self.subject(parts[1]) else { return nil }
        return LookupChange(version: version, subject: subject)
    }

    /// What has changed, in the triggers' words; `nil` for words of another version.
    static func subject(_ text: some StringProtocol) -> LookupChange.Subject? {
        switch text {
        case "events": .everything
        case "keys": .keys
        case _ where text.hasPrefix("event "): EventKey(rawValue: String(text.dropFirst(6))).map { .event($0) }
        default: nil
        }
    }

    // MARK: The journal

    /// The journal's present position.
    func position() async throws -> LookupPosition { try await changes(since: .newest).position }

    /// The changes committed since `position`, announced or not, in no order.
    func changes(since position: LookupPosition) async throws -> (changes: [LookupChange], position: LookupPosition) {
        // Ignore versions from `xmax` on. This database has not reached them; they came from a restored dump.
        let rows = try await database.query(
            """
            select s.snapshot::text as position, pg_snapshot_xmin(s.snapshot)::text as floor,
                j.version::text as version, j.subject
            from (select pg_current_snapshot() as snapshot) s left join lookup_journal j
            on j.version >= \(String(min(position.floor, UInt64(Int64.max))))::text::xid8
                and j.version < pg_snapshot_xmax(s.snapshot)
                and not pg_visible_in_snapshot(j.version, \(position.text)::text::pg_snapshot)
            """)
        return try Self.read(rows) ?? ([], position)
    }

    private static func read(_ rows: PostgresRows) throws -> (changes: [LookupChange], end: LookupPosition)? {
        guard let first = rows.first else { return nil }
        let end = LookupPosition(
            text: try first.decode("position"), floor: UInt64(try first.decode(String.self, "floor")) ?? 0)
        let changes = try rows.compactMap { row -> LookupChange? in
            guard let version = try row.decode(String?.self, "version").flatMap({ UInt64($0) }),
                let subject = subject(try row.decode(String.self, "subject"))
            else { return nil }
            return LookupChange(version: version, subject: subject)
        }
        return (changes, end)
    }

    /// Deletes the lines of the journal that every replica has read or will not need.
    func tidy() async throws {
        try await database.query(
            "delete from lookup_journal where at < now() - make_interval(secs => \(Self.journalSeconds)::int)")
    }

    /// Seconds after which rows of the journal are deleted. A replica that has not read the journal for this time reads
    /// all records again.
    static let journalSeconds = 300
}

/// An announcement for a listener.
enum LookupAnnouncement: Sendable, Hashable {
    /// Listening begins, initially and after each lost connection. Earlier announcements are lost.
    case listening
    case change(LookupChange)
}

extension LookupPosition {
    /// The end of the journal, used to ask for the journal's present position.
    static var newest: LookupPosition { LookupPosition(text: "1:1:", floor: .max) }
}

/// Changes of lookups' answers by this process's own transactions. A change is reported when its transaction is over
/// and before the transaction's caller continues. The triggers that announce changes to other processes also send a
/// notice to the session that made the change. The notice saves a round trip to the journal, and costs nothing for
/// transactions that change no answer.
package final class LocalChanges: Sendable {
    private let hearer = Mutex<(@Sendable ([LookupChange.Subject]) -> Void)?>(nil)

    init() {}

    /// - Parameter hear: called with the subjects of each transaction that changed some. `hear` must not block.
    func follow(_ hear: @escaping @Sendable ([LookupChange.Subject]) -> Void) {
        hearer.withLock { $0 = hear }
    }

    var notices: PostgresNotices {
        PostgresNotices(sqlState: PostgresSQLState(rawValue: "GS001")) { [self] messages in
            hearer.withLock(\.self)?(messages.compactMap(LookupStore.subject))
        }
    }

    /// The setting that a session needs so that the triggers notify it, whatever the role's own settings are.
    static let sessionSettings = ["grandstand.notices": "on", "client_min_messages": "notice"]
}
