package import FoundationEssentials

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

    package init(
        apply: Bool, adopt: Bool = false, deleteUnmanaged: Bool = false, recreate: Bool = false,
        grace: TimeInterval = 600, deleteBudget: Int = 100
    ) {
        self.apply = apply
        self.adopt = adopt
        self.deleteUnmanaged = deleteUnmanaged
        self.recreate = recreate
        self.grace = grace
        self.deleteBudget = deleteBudget
    }
}
