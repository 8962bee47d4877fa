public import Foundation

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Quota> {
    /// How much of each app's limit is taken.
    public static func listQuotas() -> Self { Self("listQuotas", .get, "/v1/quotas") }
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
            [("bundleId", bundleId), ("environment", environment), ("from", from), ("to", to), ("step", step)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Reconciliation {
    /// Compares Apple's list with the ledger, and acts on it when told to.
    ///
    /// - Parameters:
    ///   - apply: act on what was found.
    ///   - adopt: take over channels the ledger does not know.
    ///   - deleteUnmanaged: delete channels the ledger does not know, within grace time and budget.
    ///   - recreate: replace missing channels even when all are gone.
    public static func reconcile(
        _ app: GrandstandClient.AppEnvironment, apply: Bool? = nil, adopt: Bool? = nil, deleteUnmanaged: Bool? = nil,
        recreate: Bool? = nil
    ) -> Self {
        Self(
            "reconcile", .post, "/v1/apps/\(app)/reconciliations",
            body: Members([
                "apply": apply, "adopt": adopt, "deleteUnmanaged": deleteUnmanaged, "recreate": recreate,
            ]))
    }

    /// Shows a report.
    public static func getReconciliation(_ id: String, of app: GrandstandClient.AppEnvironment) -> Self {
        Self("getReconciliation", .get, "/v1/apps/\(app)/reconciliations/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Reconciliation> {
    /// Lists reports, the newest first.
    public static func listReconciliations(
        of app: GrandstandClient.AppEnvironment
    ) -> Self {
        Self("listReconciliations", .get, "/v1/apps/\(app)/reconciliations")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.AuditEntry> {
    /// Who did what, the newest first.
    public static func listAuditLog(
        actor: String? = nil, action: String? = nil, bundleId: String? = nil, from: Date? = nil, to: Date? = nil,
    ) -> Self {
        Self(
            "listAuditLog", .get, "/v1/audit-log",
            [("actor", actor), ("action", action), ("bundleId", bundleId), ("from", from), ("to", to)])
    }
}
