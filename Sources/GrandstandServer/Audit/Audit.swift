internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import Postgres

/// Reads the audit log in the table `audit_log`, which a trigger keeps append-only. The stores write the entries, in
/// the transaction of the change.
struct AuditLog: Sendable {
    let database: Database

    /// The entries, the newest first.
    func entries(where filter: AuditFilter, _ page: PageRequest) async throws -> Contract.AuditPage {
        let before = page.cursor.flatMap { Int($0) }
        guard before != nil || page.cursor == nil else { throw PageRequest.cursorProblem }
        let rows = try await database.query(
            """
            select id::text as id, at, actor, api_key as "keyId", action, bundle_id as "bundleId", environment, channel,
                channel_id as "channelId", event_key as "eventKey", broadcast, reason, signing_key as "signingKey",
                apns_status as "apns.status", apns_reason as "apns.reason", apns_request_id as "apns.requestId"
            from audit_log
            where (\(filter.actor)::text is null or actor = \(filter.actor))
                and (\(filter.action?.rawValue)::text is null
                    or action = \(filter.action?.rawValue)::text::audit_action)
                and (\(filter.bundleID?.topic)::text is null or lower(bundle_id) = \(filter.bundleID?.topic))
                and \(filter.event.map { key -> PostgresQuery in "event_key = \(key.rawValue)" } ?? "true")
                and (not \(filter.omitsUpdates) or action <> 'broadcast.accepted' or reason = 'end')
                and \(Self.isWithin(filter.reach))
                and (\(filter.from)::timestamptz is null or at >= \(filter.from))
                and (\(filter.to)::timestamptz is null or at < \(filter.to))
                and (\(before)::bigint is null or audit_log.id < \(before))
            order by audit_log.id desc limit \(page.limit + 1)
            """)
        return Contract.AuditPage(rows: try rows.read(), limit: page.limit, cursor: \.id)
    }

    /// The condition that an entry is within reach. Each app of an event has its own entry; an entry of an event without
    /// an app is for those who reach the event.
    private static func isWithin(_ reach: AppReach) -> PostgresQuery {
        let hasPrefix = reach.eventKeyPrefix.map { prefix -> PostgresQuery in
            "starts_with(audit_log.event_key, \(prefix.rawValue))"
        }
        guard let topics = reach.topics else { return hasPrefix ?? "true" }
        return """
            (lower(bundle_id) = any(\(topics)) and \(hasPrefix ?? "true")
                or bundle_id is null and \(EventReach.covers(reach, event: "audit_log.event_key")))
            """
    }
}

/// A filter of the audit log; a member that is `nil` does not filter.
struct AuditFilter {
    var actor: String?
    var action: Contract.AuditAction?
    var bundleID: BundleID?
    var event: EventKey?
    /// Whether accepted updates are left out. A feed has thousands of them.
    var omitsUpdates = false
    /// Only entries of these apps, and of events within this reach.
    var reach = AppReach.all
    /// Only entries at or after `from`, and before `to`.
    var from, to: Date?
}

/// `/v1/audit-log`: who changed what.
extension API {
    var auditRoutes: [Route] { [Route(.listAuditLog, listAuditLog)] }

    private func listAuditLog(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = context.query
        let (from, to) = try query.period()
        let filter = AuditFilter(
            actor: query["actor"], action: try query.choice("action"),
            bundleID: try query.read("bundleId", BundleID.rule, BundleID.init),
            event: try query.read("event", EventKey.rule, EventKey.init), reach: context.reach, from: from, to: to)
        let key = try context.caller
        guard filter.event != nil || key.holds(.operate) else {
            throw Problem(
                .forbidden,
                "The key \(key.name) does not hold the scope operate, so it reads the log of one event only: add ?event=KEY."
            )
        }
        if let bundleID = filter.bundleID { try context.requireAccess(to: bundleID) }
        return .json(try await stores.auditLog.entries(where: filter, try query.page()))
    }
}
