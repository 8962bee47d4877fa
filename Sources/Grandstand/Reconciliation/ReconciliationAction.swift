package import GrandstandContract

/// One step that brings Apple's list and the ledger together.
package struct ReconciliationAction: Sendable, Hashable {
    /// The word in reports.
    package let name: Contract.ReconciliationActionName
    /// The channel in the ledger that the action concerns.
    package let entry: LedgerSnapshot.Entry?
    /// The channel that the action concerns and that has no row in the ledger.
    package let unmanaged: UnmanagedChannel?

    private init(
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

extension ReconciliationAction {
    /// Apple no longer has the channel. An event that needs the channel gets another one.
    package static func markMissing(_ entry: LedgerSnapshot.Entry) -> Self { Self(.markMissing, entry) }

    /// A channel that was missing, or given up as missing, is listed again. It serves its event again.
    package static func restore(_ entry: LedgerSnapshot.Entry) -> Self { Self(.restore, entry) }

    /// Apple has the channel, although Apple refused a message to this channel.
    package static func confirm(_ entry: LedgerSnapshot.Entry) -> Self { Self(.confirm, entry) }

    /// A channel that was given up as missing is listed again, and its event has another channel. The listed channel
    /// becomes unmanaged, and an operator decides.
    package static func release(_ entry: LedgerSnapshot.Entry) -> Self { Self(.release, entry) }

    /// Apple confirmed the deletion and still lists the channel. The deletion is tried again.
    package static func deleteAgain(_ entry: LedgerSnapshot.Entry) -> Self { Self(.deleteAgain, entry) }

    /// An unanswered creation made this channel.
    package static func settle(_ entry: LedgerSnapshot.Entry, with channel: UnmanagedChannel) -> Self {
        Self(.settle, entry, channel)
    }

    /// An unanswered creation made no channel, or its channel cannot be distinguished from the channels of other
    /// creations or systems. The creation is tried again.
    package static func reopen(_ entry: LedgerSnapshot.Entry) -> Self { Self(.reopen, entry) }

    /// An unanswered creation or another system may have made the channel. It is not assigned.
    package static func contest(_ channel: UnmanagedChannel) -> Self { Self(.contest, nil, channel) }

    /// An unmanaged channel becomes managed.
    package static func adopt(_ channel: UnmanagedChannel) -> Self { Self(.adopt, nil, channel) }

    /// An unmanaged channel is deleted at Apple.
    package static func deleteUnmanaged(_ channel: UnmanagedChannel) -> Self { Self(.deleteUnmanaged, nil, channel) }

    /// The channel would be created again, because every channel vanished. This is only a plan, and never done
    /// automatically.
    package static func recreate(_ entry: LedgerSnapshot.Entry) -> Self { Self(.recreate, entry) }
}
