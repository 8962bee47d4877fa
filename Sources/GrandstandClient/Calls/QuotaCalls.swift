public import Foundation

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Quota> {
    /// How much of each app's limit is taken.
    public static func listQuotas(limit: Int? = nil, cursor: String? = nil) -> Self {
        Self("listQuotas", .get, "/v1/quotas", [("limit", limit?.description), ("cursor", cursor)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.QuotaHistory {
    /// How much of each app's limit was taken, step by step.
    ///
    /// - Parameter step: a multiple of five minutes, in seconds or with one of s, m, h, d.
    public static func listQuotaHistory(
        bundleId: String? = nil, environment: GrandstandClient.Environment? = nil, from: Date? = nil, to: Date? = nil,
        step: String? = nil
    ) -> Self {
        Self(
            "listQuotaHistory", .get, "/v1/quotas/history",
            [
                ("bundleId", bundleId), ("environment", environment?.rawValue), ("from", from?.parameter),
                ("to", to?.parameter), ("step", step),
            ])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Reconciliation {
    /// Compares Apple's list with the ledger, and acts on it when told to.
    public static func reconcile(
        _ app: GrandstandClient.AppEnvironment, _ draft: GrandstandClient.ReconciliationDraft = .init()
    ) -> Self {
        Self("reconcile", .post, "/v1/apps/\(app)/reconciliations", body: draft.body)
    }

    /// Shows a report.
    public static func getReconciliation(_ id: String, of app: GrandstandClient.AppEnvironment) -> Self {
        Self("getReconciliation", .get, "/v1/apps/\(app)/reconciliations/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Reconciliation> {
    /// Lists reports, the newest first.
    public static func listReconciliations(
        of app: GrandstandClient.AppEnvironment, limit: Int? = nil, cursor: String? = nil
    ) -> Self {
        Self(
            "listReconciliations", .get, "/v1/apps/\(app)/reconciliations",
            [("limit", limit?.description), ("cursor", cursor)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.AuditEntry> {
    /// Who did what, the newest first.
    public static func listAuditLog(
        actor: String? = nil, action: String? = nil, bundleId: String? = nil, from: Date? = nil, to: Date? = nil,
        limit: Int? = nil, cursor: String? = nil
    ) -> Self {
        Self(
            "listAuditLog", .get, "/v1/audit-log",
            [
                ("limit", limit?.description), ("cursor", cursor), ("actor", actor), ("action", action),
                ("bundleId", bundleId), ("from", from?.parameter), ("to", to?.parameter),
            ])
    }
}
