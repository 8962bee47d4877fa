internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/{environment}/reconciliations`: compares Apple's list with the ledger.
struct ReconciliationRoutes: Sendable {
    let apps: AppStore
    let store: ReconciliationStore
    let reconciliation: Reconciliation
    /// How much a reconciliation that a person runs may delete.
    let limits: ReconciliationOptions

    var routes: [Route] {
        [
            // There is nothing to recover: an interrupted reconciliation is run again.
            Route(.reconcile, recover: { _, _ in nil }, create),
            Route(.listReconciliations, list),
            Route(.getReconciliation, get),
        ]
    }

    private func create(_ request: Request, _ context: APIContext) async throws -> Response {
        let app = try context.app()
        let draft = try Contract.ReconciliationDraft.read(try await request.json(orIfEmpty: "{}"))
        let options = ReconciliationOptions(
            apply: draft.apply ?? false, adopt: draft.adopt ?? false, deleteUnmanaged: draft.deleteUnmanaged ?? false,
            recreate: draft.recreate ?? false, grace: limits.grace, deleteBudget: limits.deleteBudget)
        return .json(try await reconciliation.reconcile(app, options, by: context.actor), status: .created)
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let app = try context.app()
        let part = try context.query.page()
        _ = try await apps.registered(app.bundleID)
        return .json(try await store.reports(of: app, part))
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        let app = try context.app()
        let id = try context.id(orThrow: .reconciliationNotFound)
        return .json(try await store.report(id, of: app, among: apps))
    }
}
