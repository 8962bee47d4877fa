/// One step that brings Apple's list and the ledger together.
package enum ReconciliationAction: Sendable, Hashable {
    /// Apple no longer has it. An event that needs it gets another.
    case markMissing(LedgerSnapshot.Entry)
    /// It was missing and is listed again.
    case restore(LedgerSnapshot.Entry)
    /// It was recorded as deleted and is listed all the same: its deletion is asked again.
    case deleteAgain(LedgerSnapshot.Entry)
    /// What an unanswered creation made.
    case settle(LedgerSnapshot.Entry, with: UnmanagedChannel)
    /// An unanswered creation made nothing.
    case reopen(LedgerSnapshot.Entry)
    /// An unmanaged channel becomes managed.
    case adopt(UnmanagedChannel)
    /// An unmanaged channel is deleted at Apple.
    case deleteUnmanaged(UnmanagedChannel)
    /// The plan after everything vanished; never carried out by itself.
    case recreate(LedgerSnapshot.Entry)

    /// The word in reports.
    package var name: String {
        switch self {
        case .markMissing: "mark-missing"
        case .restore: "restore"
        case .deleteAgain: "delete-again"
        case .settle: "settle"
        case .reopen: "reopen"
        case .adopt: "adopt"
        case .deleteUnmanaged: "delete-unmanaged"
        case .recreate: "recreate"
        }
    }

    /// The channel of the ledger it concerns.
    package var entry: LedgerSnapshot.Entry? {
        switch self {
        case .markMissing(let entry), .restore(let entry), .deleteAgain(let entry), .settle(let entry, _),
            .reopen(let entry), .recreate(let entry):
            entry
        case .adopt, .deleteUnmanaged: nil
        }
    }

    /// Apple's ID of the channel it concerns.
    package var channelID: String? {
        switch self {
        case .settle(_, let channel), .adopt(let channel), .deleteUnmanaged(let channel): channel.channelID
        default: entry?.channelID
        }
    }

    /// Whether the channel is, or will be, deleted at Apple by it.
    package var deletes: Bool {
        switch self {
        case .deleteAgain, .deleteUnmanaged: true
        default: false
        }
    }
}
