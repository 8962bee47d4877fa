/// One step that brings Apple's list and the ledger together.
package enum ReconciliationAction: Sendable, Hashable {
    /// Apple no longer has it. An event that needs it gets another.
    case markMissing(LedgerSnapshot.Entry)
    /// It was missing, or given up as missing, and is listed again: it serves its event again.
    case restore(LedgerSnapshot.Entry)
    /// Apple has it, though it refused a message to it.
    case confirm(LedgerSnapshot.Entry)
    /// It was given up as missing, is listed again, and its event has another: it is unmanaged, and an operator
    /// decides.
    case release(LedgerSnapshot.Entry)
    /// Apple confirmed its deletion and lists it all the same: its deletion is asked again.
    case deleteAgain(LedgerSnapshot.Entry)
    /// The channel that an unanswered creation made.
    case settle(LedgerSnapshot.Entry, with: UnmanagedChannel)
    /// An unanswered creation made no channel, or none that can be told from those of others: it is asked again.
    case reopen(LedgerSnapshot.Entry)
    /// An unanswered creation may have made it, and so may another system: it is not assigned.
    case contest(UnmanagedChannel)
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
        case .confirm: "confirm"
        case .release: "release"
        case .deleteAgain: "delete-again"
        case .settle: "settle"
        case .reopen: "reopen"
        case .contest: "contest"
        case .adopt: "adopt"
        case .deleteUnmanaged: "delete-unmanaged"
        case .recreate: "recreate"
        }
    }

    /// The channel of the ledger it concerns.
    package var entry: LedgerSnapshot.Entry? {
        switch self {
        case .markMissing(let entry), .restore(let entry), .confirm(let entry), .release(let entry),
            .deleteAgain(let entry), .settle(let entry, _), .reopen(let entry), .recreate(let entry):
            entry
        case .contest, .adopt, .deleteUnmanaged: nil
        }
    }

    /// Apple's ID of the channel it concerns.
    package var channelID: String? {
        switch self {
        case .settle, .contest, .adopt, .deleteUnmanaged: unmanaged?.channelID
        default: entry?.channelID
        }
    }

    /// The channel without a row of the ledger that it concerns.
    package var unmanaged: UnmanagedChannel? {
        switch self {
        case .settle(_, let channel), .contest(let channel), .adopt(let channel), .deleteUnmanaged(let channel):
            channel
        default: nil
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
