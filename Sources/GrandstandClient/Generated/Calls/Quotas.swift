// Generated from openapi.yaml by `make contract`. Do not edit.

public import Foundation
public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.Reconciliation {
    /// Compares Apple's list of channels with the ledger, and corrects differences if asked to.
    public static func reconcile(
        _ app: GrandstandClient.AppEnvironment, apply: Bool? = nil, adopt: Bool? = nil, deleteUnmanaged: Bool? = nil,
        recreate: Bool? = nil
    ) -> Self {
        Self(
            .reconcile, "/v1/apps/\(app)/reconciliations",
            body: Contract.ReconciliationDraft(
                apply: apply, adopt: adopt, deleteUnmanaged: deleteUnmanaged, recreate: recreate))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.ReconciliationPage {
    /// Lists reports, the newest first.
    public static func listReconciliations(of app: GrandstandClient.AppEnvironment) -> Self {
        Self(.listReconciliations, "/v1/apps/\(app)/reconciliations")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Reconciliation {
    /// Shows a report.
    public static func getReconciliation(_ id: String, of app: GrandstandClient.AppEnvironment) -> Self {
        Self(.getReconciliation, "/v1/apps/\(app)/reconciliations/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.QuotaPage {
    /// Lists how much of each app's limit is taken.
    public static func listQuotas() -> Self {
        Self(.listQuotas, "/v1/quotas")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.QuotaHistory {
    /// Lists how much of each app's limit was used over time.
    public static func listQuotaHistory(
        bundleId: String? = nil, environment: Contract.Environment? = nil, from: Date? = nil, to: Date? = nil,
        step: String? = nil
    ) -> Self {
        Self(
            .listQuotaHistory, "/v1/quotas/history",
            [("bundleId", bundleId), ("environment", environment), ("from", from), ("to", to), ("step", step)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.AuditPage {
    /// Lists changes and who made them, the newest first.
    public static func listAuditLog(
        actor: String? = nil, action: Contract.AuditAction? = nil, bundleId: String? = nil, event: String? = nil,
        from: Date? = nil, to: Date? = nil
    ) -> Self {
        Self(
            .listAuditLog, "/v1/audit-log",
            [
                ("actor", actor), ("action", action), ("bundleId", bundleId), ("event", event), ("from", from),
                ("to", to),
            ])
    }
}
