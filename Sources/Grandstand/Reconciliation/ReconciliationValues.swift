package import APNsWire
package import FoundationEssentials
package import GrandstandContract

// What a reconciliation is given, and what it does.

/// Apple's list of an app's channels, read whole.
package struct ChannelListing: Sendable, Hashable {
    /// The IDs in Apple's order.
    package var channelIDs: [String]

    package init(channelIDs: [String]) { self.channelIDs = channelIDs }
}

/// A channel of Apple's list that the ledger does not know.
package struct UnmanagedChannel: Sendable, Hashable, Decodable {
    package var channelID: String
    package var firstSeenAt: Date
    /// When Apple was last asked for a list that did not have the channel. The channel was made after this time. `nil`:
    /// not known.
    package var lackedAt: Date?
    /// `nil` until a run has asked Apple.
    package var storagePolicy: StoragePolicy?
    /// Whether an unanswered creation or another system may have made the channel. Such a channel is not assigned.
    package var isContested = false

    private enum CodingKeys: CodingKey { case channelID, firstSeenAt, lackedAt, isContested }
}

/// The permissions of a reconciliation.
package struct ReconciliationOptions: Sendable, Hashable {
    /// The actions are carried out. Without this permission nothing changes: the report says what would be done.
    package var apply: Bool
    /// Unmanaged channels become managed ones.
    package var adopt: Bool
    /// Unmanaged channels that were not adopted are deleted, after their grace and within the budget.
    package var deleteUnmanaged: Bool
    /// If Apple's list has none of the expected channels, the reconciliation treats it as a fact that they vanished, so
    /// that events get new channels. With `apply`, creations that wait for their next attempt are due now.
    package var recreate: Bool
    /// An unmanaged channel may be deleted only this many seconds after it was first seen.
    package var grace: TimeInterval
    /// The most deletions of one run.
    package var deleteBudget: Int

    package init(_ draft: Contract.ReconciliationDraft, grace: TimeInterval = 600, deleteBudget: Int = 100) {
        (apply, adopt) = (draft.apply ?? false, draft.adopt ?? false)
        (deleteUnmanaged, recreate) = (draft.deleteUnmanaged ?? false, draft.recreate ?? false)
        (self.grace, self.deleteBudget) = (grace, deleteBudget)
    }
}

/// One step that brings Apple's list and the ledger together. openapi.yaml says what each action does.
package struct ReconciliationAction: Sendable, Hashable {
    /// The word in reports.
    package let name: Contract.ReconciliationActionName
    /// The channel in the ledger that the action concerns.
    package let entry: Channel?
    /// The channel that the action concerns and that has no row in the ledger.
    package let unmanaged: UnmanagedChannel?

    package init(
        _ name: Contract.ReconciliationActionName, _ entry: Channel? = nil,
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
