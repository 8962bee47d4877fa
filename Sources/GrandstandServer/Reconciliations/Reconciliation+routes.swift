internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/{environment}/reconciliations`: compares Apple's list with the ledger.
extension API {
    var reconciliationRoutes: [Route] {
        let (apps, store, limits) = (stores.apps, stores.reconciliations, reconciliationLimits)
        return [
            // There is nothing to recover: an interrupted reconciliation is run again.
            Route(.reconcile, recover: { _, _ in nil }) { request, context in
                let app = try context.app()
                let draft = try Contract.ReconciliationDraft.read(try await request.json(orIfEmpty: "{}"))
                let options = ReconciliationOptions(
                    apply: draft.apply ?? false, adopt: draft.adopt ?? false,
                    deleteUnmanaged: draft.deleteUnmanaged ?? false, recreate: draft.recreate ?? false,
                    grace: limits.grace, deleteBudget: limits.deleteBudget)
                return .json(try await reconciliation.reconcile(app, options, by: context.actor), status: .created)
            },
            Route(.listReconciliations) { _, context in
                let app = try context.app()
                let part = try context.query.page()
                _ = try await apps.registered(app.bundleID)
                return .json(try await store.reports(of: app, part))
            },
            Route(.getReconciliation) { _, context in
                let app = try context.app()
                let id = try context.id(orThrow: .reconciliationNotFound)
                return .json(try await store.report(id, of: app, among: apps))
            },
        ]
    }
}
