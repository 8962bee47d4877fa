internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/audit-log`: who changed what.
struct AuditRoutes: Sendable {
    let log: PostgresAuditLog

    var routes: [Route] {
        [Route(.listAuditLog, list)]
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = context.query
        let (from, to) = try query.period()
        let filter = AuditFilter(
            actor: query["actor"], action: try query.choice("action"),
            bundleID: try query.read("bundleId", BundleID.rule, BundleID.init),
            event: try query.read("event", EventKey.rule, EventKey.init), within: context.reach, from: from, to: to)
        let key = try context.caller.key
        guard filter.event != nil || key.holds(.operate) else {
            throw Problem(
                .forbidden,
                "The key \(key.name) does not hold the scope operate, so it reads the log of one event only: add ?event=KEY."
            )
        }
        if let bundleID = filter.bundleID { try context.requireAccess(to: bundleID) }
        return .json(Contract.Page(try await log.entries(where: filter, try query.page()), Contract.AuditEntry.init))
    }
}

extension Contract.AuditEntry {
    init(_ entry: AuditEntry) {
        let subject = entry.subject
        self.init(
            id: String(entry.id), at: entry.at, actor: entry.actor, keyId: entry.keyID?.words,
            action: .init(entry.action), bundleId: subject.bundleID?.rawValue,
            environment: subject.environment.map(Contract.Environment.init), channel: subject.channel?.words,
            channelId: subject.channelID, eventKey: subject.eventKey?.rawValue, broadcast: subject.broadcast?.words,
            reason: entry.reason, signingKey: entry.signingKey,
            apns: entry.answer.map {
                Contract.AuditAnswer(status: $0.status, reason: $0.reason, requestId: $0.requestID)
            })
    }
}
