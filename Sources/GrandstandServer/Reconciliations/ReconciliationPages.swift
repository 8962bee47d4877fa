internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// `/console/apps/{bundleId}/{environment}/reconciliations`: the reports of reconciliations.
struct ReconciliationPages: PageGroup {
    let apps: AppStore
    let store: ReconciliationStore

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
        return .page(ReconciliationList(app, page, visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let app = try visit.app()
        let report = try await store.report(try visit.id(orThrow: .reconciliationNotFound), of: app, among: apps)
        return .page(ReconciliationDetail(report, app))
    }
}
