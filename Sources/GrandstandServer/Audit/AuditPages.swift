internal import GrandstandContract
internal import JSON

extension Resource {
    /// `/console/audit-log`
    static let auditLog = Resource(
        path: "/audit-log", scope: .operate, title: { _ in "Audit log" },
        list: { _ in
            Listing(
                operation: .listAuditLog, caption: "Who did what, and what Apple answered; the newest first",
                nothing: "No entry fits.",
                filter: ["actor", "action", "bundleId", "event", "from", "to"],
                columns: [
                    Field("at", as: "When"), Field("actor", as: "Who"), "action", Field("bundleId", as: "App"),
                    "environment", Field("eventKey", as: "Event"), Field("channelId", as: "Channel"),
                    Field("reason", as: "Why"), "broadcast", Field("apns", as: "Apple"),
                ])
        })
}
