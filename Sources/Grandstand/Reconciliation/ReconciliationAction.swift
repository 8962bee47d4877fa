package import GrandstandContract

/// One step that brings Apple's list and the ledger together. openapi.yaml says what each action does.
package struct ReconciliationAction: Sendable, Hashable {
    /// The word in reports.
    package let name: Contract.ReconciliationActionName
    /// The channel in the ledger that the action concerns.
    package let entry: LedgerSnapshot.Entry?
    /// The channel that the action concerns and that has no row in the ledger.
    package let unmanaged: UnmanagedChannel?

    package init(
        _ name: Contract.ReconciliationActionName, _ entry: LedgerSnapshot.Entry? = nil,
        _ channel: UnmanagedChannel? = nil
    ) {
        self.name = name
        self.entry = entry
        unmanaged = channel
    }

    /// Apple's ID of the channel that the action concerns.
    package var channelID: String? { unmanaged?.channelID ?? entry?.channelID }

    /// Whether the action deletes the channel at Apple, now or later.
    package var deletes: Bool { name == .deleteAgain || name == .deleteUnmanaged }
}
