internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

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
