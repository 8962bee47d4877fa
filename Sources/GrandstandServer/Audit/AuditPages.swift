internal import Grandstand
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
                    Field("at", as: "When"), Field("actor", as: "Who"), "action",
                    Field("App") { entry, _ in
                        [.quoted(Wording.list(entry["bundleId"]?.string, entry["environment"]?.string))]
                    }, Field("eventKey", as: "Event"), Field("channelId", as: "Channel"),
                    // This column also names the broadcast, if the entry is about a broadcast.
                    Field("Why") { entry, _ in [.quoted(entry.text("reason")), .words(entry.text("broadcast"))] },
                    // `201`, `400 BadChannelId`, or why APNs gave no answer.
                    Field("apns", as: "Apple") { answer in
                        let (status, reason) = (answer["status"]?.integer, answer["reason"]?.string)
                        return .quoted(
                            (status.map(String.init) ?? "no answer")
                                + (reason.map { (status == nil ? ": " : " ") + $0 } ?? ""))
                    },
                ])
        })
}
