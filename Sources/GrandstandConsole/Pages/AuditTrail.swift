internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// The entries of the audit log, the newest first.
struct AuditTrail: ConsolePage {
    var template: TemplateName { .audit }
    let title = "Audit log"
    let actor: String
    let actions: [Choice]
    let bundleID: String
    let from: String
    let to: String
    let rows: [AuditRow]
    let pager: Pager

    init(_ page: Page<AuditEntry>, _ filter: AuditFilter, _ visit: Visit) {
        actor = filter.actor ?? ""
        actions = Choice.all(AuditAction.self, chosen: filter.action)
        bundleID = filter.bundleID?.rawValue ?? ""
        from = visit.query["from"] ?? ""
        to = visit.query["to"] ?? ""
        rows = page.items.map(AuditRow.init)
        pager = Pager(
            visit,
            query: ["actor", "action", "bundleId", "from", "to"].map { (name: $0, value: visit.query[$0]) },
            nextCursor: page.nextCursor)
    }
}

/// One entry.
struct AuditRow: Sendable {
    let at: Moment
    let who: String
    let action: String
    /// App and environment, as far as they apply.
    let subject: String
    let event: String
    let eventHref: String?
    let channelID: String
    /// Why, and the broadcast it is about.
    let reason: String
    /// `201`, `400 BadChannelId`, or why there was no answer; empty without a call.
    let apple: String

    init(_ entry: AuditEntry) {
        at = Moment(entry.at)
        who = entry.actor
        action = entry.action.rawValue
        subject = [entry.subject.bundleID?.rawValue, entry.subject.environment?.rawValue].compactMap(\.self)
            .joined(separator: ", ")
        event = entry.subject.eventKey?.rawValue ?? ""
        eventHref = entry.subject.eventKey.map(ConsolePath.event)
        channelID = entry.subject.channelID ?? ""
        reason = [entry.reason, entry.subject.broadcast?.uuidString.lowercased()].compactMap(\.self)
            .joined(separator: " ")
        apple = entry.answer.map(Self.text) ?? ""
    }

    private static func text(_ record: APNsRecord) -> String {
        guard let status = record.status else { return "no answer" + (record.reason.map { ": \($0)" } ?? "") }
        return String(status) + (record.reason.map { " \($0)" } ?? "")
    }
}
