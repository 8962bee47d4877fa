package import APNsWire
package import FoundationEssentials

/// The findings and actions of a reconciliation.
package struct ReconciliationReport: Sendable, Hashable {
    package var id: UUID
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    package var actor: String
    package var startedAt: Date
    package var finishedAt: Date
    /// Whether the actions were carried out.
    package var applied: Bool
    /// Channels in Apple's list.
    package var apple: Int
    /// Channels in the ledger that should be in Apple's list.
    package var ledger: Int
    /// Channels in both the ledger and Apple's list.
    package var matched: Int
    package var missing: [LedgerSnapshot.Entry]
    package var unmanaged: [UnmanagedChannel]
    package var actions: [Action]
    package var alarm: Alarm?
    /// Further notes for operators.
    package var notes: [String]

    package init(
        id: UUID, bundleID: BundleID, environment: APNsEnvironment, actor: String, startedAt: Date, finishedAt: Date,
        applied: Bool, apple: Int, ledger: Int, matched: Int, missing: [LedgerSnapshot.Entry],
        unmanaged: [UnmanagedChannel], actions: [Action], alarm: Alarm?, notes: [String]
    ) {
        self.id = id
        self.bundleID = bundleID
        self.environment = environment
        self.actor = actor
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.applied = applied
        self.apple = apple
        self.ledger = ledger
        self.matched = matched
        self.missing = missing
        self.unmanaged = unmanaged
        self.actions = actions
        self.alarm = alarm
        self.notes = notes
    }

    package var app: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: environment) }

    /// Why a reconciliation raised an alarm instead of acting.
    package enum Alarm: String, Sendable, Hashable, CaseIterable {
        /// Every known channel vanished at once: turning the capability off deletes them all (docs/internals/apns.md
        /// 1.2).
        case capabilityOff = "capability-off"
        /// Apple has channels that its list does not have, so a channel that is not listed may exist.
        case listIncomplete = "list-incomplete"
        /// Apple's list has channels that an unanswered creation or another system may have made.
        case ambiguousCreation = "ambiguous-creation"
    }

    /// An action, and whether it was done.
    package struct Action: Sendable, Hashable {
        package var action: ReconciliationAction
        package var done: Bool
        /// Why the action was not done, or Apple's answer.
        package var detail: String?

        package init(_ action: ReconciliationAction, done: Bool, detail: String? = nil) {
            self.action = action
            self.done = done
            self.detail = detail
        }
    }
}
