internal import APNsWire
internal import FoundationEssentials
package import GrandstandContract

// This extension is in this module and not with the API's routes, because the database keeps the report as it was
// answered.

extension Contract.Reconciliation {
    package init(_ report: ReconciliationReport) {
        self.init(
            id: report.id.words, bundleId: report.bundleID.rawValue,
            environment: .init(report.environment), actor: report.actor,
            startedAt: report.startedAt, finishedAt: report.finishedAt, applied: report.applied, apple: report.apple,
            ledger: report.ledger, matched: report.matched,
            missing: report.missing.map(Contract.MissingChannel.init),
            unmanaged: report.unmanaged.map(Contract.UnmanagedChannel.init),
            actions: report.actions.map(Contract.ReconciliationAction.init),
            alarm: report.alarm.map(Contract.ReconciliationAlarm.init), notes: report.notes)
    }
}

extension Contract.MissingChannel {
    fileprivate init(_ entry: LedgerSnapshot.Entry) {
        self.init(
            id: entry.id.words, channelId: entry.channelID,
            storagePolicy: .init(entry.storagePolicy), eventKey: entry.eventKey?.rawValue,
            variant: entry.variant?.rawValue)
    }
}

extension Contract.UnmanagedChannel {
    fileprivate init(_ channel: UnmanagedChannel) {
        self.init(
            channelId: channel.channelID, firstSeenAt: channel.firstSeenAt,
            storagePolicy: channel.storagePolicy.map(Contract.StoragePolicy.init))
    }
}

extension Contract.ReconciliationAction {
    fileprivate init(_ step: ReconciliationReport.Action) {
        let (action, entry) = (step.action, step.action.entry)
        self.init(
            action: .init(rawValue: action.name), id: entry.map { $0.id.words },
            eventKey: entry?.eventKey?.rawValue, variant: entry?.variant?.rawValue, channelId: action.channelID,
            done: step.done, detail: step.detail)
    }
}
