package import GrandstandContract

/// One step that brings Apple's list and the ledger together.
package enum ReconciliationAction: Sendable, Hashable {
    /// Apple no longer has the channel. An event that needs the channel gets another one.
    case markMissing(LedgerSnapshot.Entry)
    /// A channel that was missing, or given up as missing, is listed again. It serves its event again.
    case restore(LedgerSnapshot.Entry)
    /// Apple has the channel, although Apple refused a message to this channel.
    case confirm(LedgerSnapshot.Entry)
    /// A channel that was given up as missing is listed again, and its event has another channel. The listed channel
    /// becomes unmanaged, and an operator decides.
    case release(LedgerSnapshot.Entry)
    /// Apple confirmed the deletion and still lists the channel. The deletion is tried again.
    case deleteAgain(LedgerSnapshot.Entry)
    /// An unanswered creation made this channel.
    case settle(LedgerSnapshot.Entry, with: UnmanagedChannel)
    /// An unanswered creation made no channel, or its channel cannot be distinguished from the channels of other
    /// creations or systems. The creation is tried again.
    case reopen(LedgerSnapshot.Entry)
    /// An unanswered creation or another system may have made the channel. It is not assigned.
    case contest(UnmanagedChannel)
    /// An unmanaged channel becomes managed.
    case adopt(UnmanagedChannel)
    /// An unmanaged channel is deleted at Apple.
    case deleteUnmanaged(UnmanagedChannel)
    /// The channel would be created again, because every channel vanished. This is only a plan, and never done
    /// automatically.
    case recreate(LedgerSnapshot.Entry)

    /// The word in reports.
    package var name: Contract.ReconciliationActionName {
        switch self {
        case .markMissing: .markMissing
        case .restore: .restore
        case .confirm: .confirm
        case .release: .release
        case .deleteAgain: .deleteAgain
        case .settle: .settle
        case .reopen: .reopen
        case .contest: .contest
        case .adopt: .adopt
        case .deleteUnmanaged: .deleteUnmanaged
        case .recreate: .recreate
        }
    }

    /// The channel in the ledger that the action concerns.
    package var entry: LedgerSnapshot.Entry? {
        switch self {
        case .markMissing(let entry), .restore(let entry), .confirm(let entry), .release(let entry),
            .deleteAgain(let entry), .settle(let entry, _), .reopen(let entry), .recreate(let entry):
            entry
        case .contest, .adopt, .deleteUnmanaged: nil
        }
    }

    /// Apple's ID of the channel that the action concerns.
    package var channelID: String? {
        switch self {
        case .settle, .contest, .adopt, .deleteUnmanaged: unmanaged?.channelID
        case .markMissing, .restore, .confirm, .release, .deleteAgain, .reopen, .recreate: entry?.channelID
        }
    }

    /// The channel that the action concerns and that has no row in the ledger.
    package var unmanaged: UnmanagedChannel? {
        switch self {
        case .settle(_, let channel), .contest(let channel), .adopt(let channel), .deleteUnmanaged(let channel):
            channel
        case .markMissing, .restore, .confirm, .release, .deleteAgain, .reopen, .recreate: nil
        }
    }

    /// Whether the action deletes the channel at Apple, now or later.
    package var deletes: Bool {
        switch self {
        case .deleteAgain, .deleteUnmanaged: true
        case .markMissing, .restore, .confirm, .release, .settle, .reopen, .contest, .adopt, .recreate: false
        }
    }
}
