internal import APNsWire
internal import FoundationEssentials
package import Grandstand
internal import GrandstandContract
internal import Hummingbird
package import JSON

/// `/v1/audit-log`: changes and their actors.
struct AuditRoutes: Sendable {
    let log: any AuditLog

    var routes: [Route] {
        [Route(.listAuditLog, list)]
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = context.query
        let (from, to) = try query.period()
        let filter = AuditFilter(
            actor: query["actor"], action: try query.choice("action"),
            bundleID: try query.read("bundleId", BundleID.rule, BundleID.init), within: context.reach,
            from: from, to: to)
        if let bundleID = filter.bundleID { try context.requireCover(of: bundleID) }
        return .json(try await log.entries(where: filter, try query.page()))
    }
}

extension AuditEntry: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("id", String(id))
        object.member("at", at)
        object.member("actor", actor)
        object.member("keyId", keyID?.uuidString.lowercased())
        object.member("action", action.rawValue)
        object.member("bundleId", subject.bundleID?.rawValue)
        object.member("environment", subject.environment?.rawValue)
        object.member("channel", subject.channel?.uuidString.lowercased())
        object.member("channelId", subject.channelID)
        object.member("eventKey", subject.eventKey?.rawValue)
        object.member("broadcast", subject.broadcast?.uuidString.lowercased())
        object.member("reason", reason)
        object.member("signingKey", signingKey)
        object.name("apns")
        guard let answer else { return object.null() }
        object.object { apns in
            apns.member("status", answer.status)
            apns.member("reason", answer.reason)
            apns.member("requestId", answer.requestID)
        }
    }
}
