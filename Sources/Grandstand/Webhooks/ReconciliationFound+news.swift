internal import FoundationEssentials
package import GrandstandContract

extension Contract.ReconciliationFound {
    /// The part of a reconciliation's report that webhooks get.
    ///
    /// - Parameter standing: the alarm before this run.
    /// - Returns: `nil` if the run found nothing new, did nothing, and raised no other alarm. So an unmanaged channel is
    ///   not reported every hour.
    package init?(_ report: Contract.Reconciliation, standing: Contract.ReconciliationAlarm?) {
        let unmanaged = report.unmanaged ?? []
        let (missing, actions) = (report.missing?.count ?? 0, report.actions?.count ?? 0)
        // A channel that is first seen in this run has the time of the run's beginning or a later one.
        let new = unmanaged.count { $0.firstSeenAt >= report.startedAt }
        guard new > 0 || missing > 0 || actions > 0 || report.alarm != nil && report.alarm != standing else {
            return nil
        }
        self.init(
            id: report.id, bundleId: report.bundleId, environment: report.environment, startedAt: report.startedAt,
            finishedAt: report.finishedAt, applied: report.applied, apple: report.apple, ledger: report.ledger,
            missing: missing, unmanaged: unmanaged.count, newUnmanaged: new, actions: actions, alarm: report.alarm)
    }
}
