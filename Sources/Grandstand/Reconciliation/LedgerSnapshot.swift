package import APNsWire
package import FoundationEssentials

/// The ledger's channels of one app and environment when Apple's list was compared with it.
package struct LedgerSnapshot: Sendable, Hashable {
    /// Every channel that is not deleted, and the deleted channels that Apple still lists.
    package var entries: [Entry]
    /// Channels that Apple lists and the ledger does not know.
    package var unmanaged: [UnmanagedChannel]
    /// When Apple was asked for the list.
    package var listedAt: Date

    package init(entries: [Entry], unmanaged: [UnmanagedChannel], listedAt: Date) {
        self.entries = entries
        self.unmanaged = unmanaged
        self.listedAt = listedAt
    }

    package struct Entry: Sendable, Hashable, Decodable {
        package var id: UUID
        package var channelID: String?
        package var state: Channel.State
        package var storagePolicy: StoragePolicy
        package var eventKey: EventKey?
        package var changedAt: Date
        /// When Apple was asked to create the channel, if the outcome of this call is not known.
        package var calledAt: Date?
        /// A list that Apple is asked for at this time or later shows the outcome of the call at `calledAt`. Before
        /// this time the call may be under way.
        package var settleableAt: Date?
        /// When Apple refused a message because it does not know the channel; `nil` once a reconciliation has checked
        /// the channel.
        package var doubtedAt: Date?
        /// Of a deleted channel: `true` if Apple confirmed the deletion, or answered that it does not know the channel.
        package var deletionConfirmed = false
        /// Of a deleted channel: whether its audience needs a channel. The audience needs one if the event is not over
        /// and still has this audience, and if Apple has no other channel for the audience and is not making one.
        package var isWanted = false
        /// The variant of the event's audience.
        package var variant: Variant?
    }
}

/// A channel of Apple's list that the ledger does not know.
package struct UnmanagedChannel: Sendable, Hashable, Decodable {
    package var channelID: String
    package var firstSeenAt: Date
    /// When Apple was last asked for a list that did not have the channel. The channel was made after this time. `nil`:
    /// not known.
    package var lackedAt: Date?
    /// `nil` until Apple was asked.
    package var storagePolicy: StoragePolicy?
    /// Whether an unanswered creation or another system may have made the channel. Such a channel is not assigned.
    package var isContested: Bool

    package init(
        channelID: String, firstSeenAt: Date, lackedAt: Date? = nil, storagePolicy: StoragePolicy? = nil,
        isContested: Bool = false
    ) {
        self.channelID = channelID
        self.firstSeenAt = firstSeenAt
        self.lackedAt = lackedAt
        self.storagePolicy = storagePolicy
        self.isContested = isContested
    }
}
