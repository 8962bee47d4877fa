internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The page of the audit log, the newest entry first.
struct AuditTrail: ConsolePage {
    var template: TemplateName { .audit }
    let title = "Audit log"
    let actor: String
    let actions: [Choice]
    let bundleID: String
    let event: String
    let from: String
    let to: String
    let entries: Table
    let pager: Pager

    init(_ page: Contract.AuditPage, _ filter: AuditFilter, _ visit: Visit) {
        actor = filter.actor ?? ""
        actions = Choice.all(Contract.AuditAction.self, chosen: filter.action)
        bundleID = filter.bundleID?.rawValue ?? ""
        event = filter.event?.rawValue ?? ""
        from = FormTime.local(visit.query["from"] ?? "")
        to = FormTime.local(visit.query["to"] ?? "")
        entries = Table(
            "Who did what, and what Apple answered; the newest first", nothing: "No entry fits.", page.items,
            [
                Column("When") { [.moment($0.at, exact: true)] }, Column("Who") { [.quoted($0.actor)] },
                Column("Action") { [.words($0.action.rawValue)] },
                Column("App") { entry in
                    [.quoted(Wording.list(entry.bundleId, entry.environment?.rawValue))]
                }, Column("Event") { [.event($0.eventKey.flatMap(EventKey.init))] },
                Column("Channel") { [.code($0.channelId ?? "")] },
                // This column also names the broadcast, if the entry is about a broadcast.
                Column("Why") { entry in
                    [.quoted(entry.reason ?? ""), .words(entry.broadcast ?? "")]
                }, Column("Apple") { [.quoted($0.apns.map(Self.text) ?? "")] },
            ])
        pager = Pager(
            visit,
            query: ["actor", "action", "bundleId", "event", "from", "to"].map { (name: $0, value: visit.query[$0]) },
            nextCursor: page.nextCursor)
    }

    /// Apple's answer: `201`, `400 BadChannelId`, or why APNs gave no answer.
    static func text(_ record: Contract.AuditAnswer) -> String {
        guard let status = record.status else { return "no answer" + (record.reason.map { ": \($0)" } ?? "") }
        return String(status) + (record.reason.map { " \($0)" } ?? "")
    }
}
