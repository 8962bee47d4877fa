internal import Grandstand

/// `/console/apps`: the apps, their credentials, and what was learned of APNs' behaviour towards them.
struct AppRoutes: Sendable {
    let apps: any AppStore
    let quirks: any QuirkStore
    let gateway: any APNsGateway

    var routes: [PageRoute] {
        [PageRoute("/apps", .operate, list), PageRoute("/apps/:bundleId", .operate, show)]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        let page = try await apps.apps(visit.page, within: visit.key.reach)
        var rows: [AppRow] = []
        for app in page.items {
            rows.append(AppRow(app, keyFiles: await gateway.keyFiles(of: app)))
        }
        return .page(AppList(rows, nextCursor: page.nextCursor, visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let app = try await apps.registered(try visit.bundleID())
        let departures = try await quirks.quirks(of: app.bundleID).filter(\.isDeparture)
        return .page(AppDetail(app, keyFiles: await gateway.keyFiles(of: app), quirks: departures))
    }
}
