internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Reads the audit log in the table `audit_log`, which a trigger keeps append-only. The stores write the entries, in
/// the transaction of the change.
struct PostgresAuditLog: Sendable {
    let database: Database

    init(_ database: Database) { self.database = database }

    /// The entries, the newest first.
    func entries(where filter: AuditFilter, _ page: PageRequest) async throws -> Page<AuditEntry> {
        let before = try page.cursor.map { text throws(Problem) -> Int in
            guard let id = Int(text) else { throw PageRequest.refusal }
            return id
        }
        let rows = try await database.query(
            """
            select id, at, actor, api_key, action, bundle_id, environment, channel, channel_id, event_key, broadcast,
                reason, signing_key, apns_status::bigint as apns_status, apns_reason, apns_request_id
            from audit_log
            where (\(filter.actor)::text is null or actor = \(filter.actor))
                and (\(filter.action?.rawValue)::text is null
                    or action = \(filter.action?.rawValue)::text::audit_action)
                and (\(filter.bundleID?.topic)::text is null or lower(bundle_id) = \(filter.bundleID?.topic))
                and \(filter.event.map { key -> PostgresQuery in "event_key = \(key.rawValue)" } ?? "true")
                and (not \(filter.omitsUpdates) or action <> 'broadcast.accepted' or reason = 'end')
                and \(Self.covers(filter.reach))
                and (\(filter.from)::timestamptz is null or at >= \(filter.from))
                and (\(filter.to)::timestamptz is null or at < \(filter.to))
                and (\(before)::bigint is null or id < \(before))
                and action::text = any(\(Self.known))
            order by id desc limit \(page.limit + 1)
            """)
        return Page(rows: try rows.map(Self.entry), limit: page.limit) { String($0.id) }
    }

    /// The condition that an entry is within reach. Each app of an event has its own entry; an entry of an event without
    /// an app is for those who reach the event.
    private static func covers(_ reach: AppReach) -> PostgresQuery {
        let hasPrefix = reach.eventKeyPrefix.map { prefix -> PostgresQuery in
            "starts_with(audit_log.event_key, \(prefix.rawValue))"
        }
        guard let topics = reach.topics else { return hasPrefix ?? "true" }
        return """
            (lower(bundle_id) = any(\(topics)) and \(hasPrefix ?? "true")
                or bundle_id is null and \(EventReach.covers(reach, event: "audit_log.event_key")))
            """
    }

    /// A newer build that runs at the same time may write other actions. This build shows only the actions that it
    /// knows.
    private static let known = AuditAction.allCases.map(\.rawValue)

    private static func entry(_ row: PostgresRow) throws -> AuditEntry {
        AuditEntry(
            id: try row.decode("id"), at: try row.decode("at"), actor: try row.decode("actor"),
            keyID: try row.decode("api_key"), action: try row.word("action"),
            subject: AuditEntry.Subject(
                bundleID: try row.optionalWord("bundle_id"), environment: try row.optionalWord("environment"),
                channel: try row.decode("channel"), channelID: try row.decode("channel_id"),
                eventKey: try row.optionalWord("event_key"), broadcast: try row.decode("broadcast")),
            reason: try row.decode("reason"), signingKey: try row.decode("signing_key"), answer: try answer(row))
    }

    private static func answer(_ row: PostgresRow) throws -> APNsRecord? {
        let answer = APNsRecord(
            status: try row.decode("apns_status"), reason: try row.decode("apns_reason"),
            requestID: try row.decode("apns_request_id"))
        return answer == APNsRecord(status: nil, reason: nil, requestID: nil) ? nil : answer
    }
}
