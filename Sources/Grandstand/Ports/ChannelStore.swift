package import APNsWire
package import FoundationEssentials

/// The ledger of channels: why each exists, and what has to be done about it.
package protocol ChannelStore: Sendable {
    /// Writes the intent to create a channel, within the app's limit, leased to the caller until `leasedUntil`.
    ///
    /// - Throws: `app-not-found`, `quota-exhausted`.
    func reserve(_ draft: ChannelDraft, now: Date, leasedUntil: Date) async throws -> ChannelTask

    func channel(_ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment) async throws -> Channel?

    func channels(
        of bundleID: BundleID, in environment: APNsEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Page<Channel>

    /// Brings the ledger to what the events ask for: opens intents for audiences whose time has come, retires the
    /// channels of events that are over, drops intents nobody needs any more. Idempotent.
    ///
    /// - Returns: how many channels changed.
    func align(now: Date, retireAfter: TimeInterval) async throws -> Int

    /// Leases channels for which a call to Apple is due: creations, retirements whose time has come, deletions.
    func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask]

    /// When the next channel will be due; `nil`: none waits.
    func nextDue(now: Date) async throws -> Date?

    /// Leases one channel for deletion.
    ///
    /// - Throws: `channel-not-found`; `channel-in-use` while a live event needs it and `force` is false.
    func beginDeletion(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment, force: Bool, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask

    /// Records what became of a call to Apple and ends the lease. Activation hands the lane its channel.
    func record(_ outcome: ChannelOutcome, of id: UUID, now: Date) async throws -> Channel

    /// The address APNs is asked with for an app, quirks included; `nil`: no such app.
    func address(of bundleID: BundleID, in environment: APNsEnvironment) async throws -> APNsAddress?

    /// Every app's quota, both environments.
    func quotas(now: Date, retireAfter: TimeInterval) async throws -> [Quota]
}

/// A channel to be.
package struct ChannelDraft: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    package var storagePolicy: StoragePolicy
    package var label: String?

    package init(bundleID: BundleID, environment: APNsEnvironment, storagePolicy: StoragePolicy, label: String?) {
        self.bundleID = bundleID
        self.environment = environment
        self.storagePolicy = storagePolicy
        self.label = label
    }
}

/// Narrows a list of channels; `nil` does not.
package struct ChannelFilter: Sendable, Hashable {
    package var state: Channel.State?
    package var storagePolicy: StoragePolicy?
    package var eventKey: EventKey?
    package var channelID: String?

    package init(
        state: Channel.State? = nil, storagePolicy: StoragePolicy? = nil, eventKey: EventKey? = nil,
        channelID: String? = nil
    ) {
        self.state = state
        self.storagePolicy = storagePolicy
        self.eventKey = eventKey
        self.channelID = channelID
    }
}

/// A leased channel with what a call to Apple about it needs.
package struct ChannelTask: Sendable, Hashable {
    package var channel: Channel
    package var address: APNsAddress

    package init(channel: Channel, address: APNsAddress) {
        self.channel = channel
        self.address = address
    }
}

/// What became of a call to Apple about one channel.
package enum ChannelOutcome: Sendable, Hashable {
    /// Apple issued this ID.
    case created(channelID: String)
    /// Creation was refused or did not happen: once more at `nextAttemptAt`, or never when that is `nil`.
    case notCreated(reason: String, state: Channel.State, nextAttemptAt: Date?)
    /// Apple deleted it or did not know it.
    case deleted
    /// Deletion did not happen: once more at `nextAttemptAt`.
    case notDeleted(reason: String, nextAttemptAt: Date)
}
