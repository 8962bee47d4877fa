internal import Grandstand

/// `/console/audit-log`
struct AuditPages: PageGroup {
    let log: AuditLog

    var routes: [PageRoute] { [PageRoute("/audit-log", .operate, show)] }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let filter = AuditFilter(
            actor: visit.query["actor"], action: try visit.query.choice("action"), bundleID: try visit.chosenApp(),
            event: try visit.query.read("event", EventKey.rule, EventKey.init), reach: visit.reach,
            from: try visit.query.date("from"), to: try visit.query.date("to"))
        return .page(AuditTrail(try await log.entries(where: filter, visit.page), filter, visit))
    }
}
