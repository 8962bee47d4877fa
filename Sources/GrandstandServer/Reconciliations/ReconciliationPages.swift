internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// `/console/apps/{bundleId}/{environment}/reconciliations`: the reports of reconciliations.
struct ReconciliationPages: PageGroup {
    let apps: any AppStore
    let store: any ReconciliationStore

    var routes: [PageRoute] {
        let base = "/apps/:bundleId/:environment/reconciliations"
        return [PageRoute(base, .operate, list), PageRoute(base + "/:id", .operate, show)]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        let app = try visit.app()
        _ = try await apps.registered(app.bundleID)
        var request = visit.page
        request.limit = 20
        let page = try await store.reports(of: app, request)
        let reports = try page.items.map { bytes in try ReconciliationReading(bytes) }
        return .page(ReconciliationList(app, reports, nextCursor: page.nextCursor, visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let app = try visit.app()
        let report = try await store.kept(try visit.id(orThrow: .reconciliationNotFound), of: app, among: apps)
        return .page(ReconciliationDetail(try ReconciliationReading(report), app))
    }
}
