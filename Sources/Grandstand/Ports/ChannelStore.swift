package import APNsWire
package import FoundationEssentials

/// The ledger of channels: why each exists, and which call to Apple it needs next.
package protocol ChannelStore: Sendable {
    /// Stores the intent to create a channel, within the app's limit. The caller gets a lease of the channel until
    /// `leasedUntil`.
    ///
    /// - Throws: `app-not-found`, `quota-exhausted`.
    func reserve(_ draft: ChannelDraft, now: Date, leasedUntil: Date) async throws -> ChannelTask

    /// Takes over a channel that already exists at Apple.
    ///
    /// - Throws: `app-not-found`; `channel-exists` if the ledger already has the channel, or the event has another
    ///   channel for this audience; `event-not-found`, `event-ended`; `invalid-request` if the event has no such
    ///   audience.
    func `import`(_ channel: ChannelImport, by actor: AuditActor, now: Date) async throws -> Channel

    func channel(_ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment) async throws -> Channel?

    func channels(
        of bundleID: BundleID, in environment: APNsEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Page<Channel>

    /// Unmanaged channels, ordered by their IDs.
    func unmanagedChannels(
        of bundleID: BundleID, in environment: APNsEnvironment, _ page: PageRequest
    ) async throws -> Page<UnmanagedChannel>

    /// Changes the ledger to match the events. It closes events whose `end` never came. It creates intents for
    /// audiences whose channels must open. It retires the channels of events that are over, and drops intents that are
    /// no longer needed. If other channels need places, it allows the deletion of retiring channels that no device
    /// needs. If places are scarce, they are given in the order in which the channels are needed. Among channels needed
    /// at the same time, the earlier start of the event decides, then the earlier declaration. Idempotent.
    ///
    /// - Returns: the number of channels that changed.
    func align(now: Date, tenure: ChannelTenure) async throws -> Int

    /// Leases channels for which a call to Apple is due: creations, retirements whose time has come, deletions. A
    /// creation with an unknown outcome is never claimed again. A reconciliation finds out whether the channel exists
    /// (`ReconciliationStore`).
    func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask]

    /// When the next channel is due; `nil`: none waits.
    func nextDue(now: Date) async throws -> Date?

    /// Records that the call to Apple for a leased creation begins now.
    ///
    /// - Returns: whether the task still has the lease.
    func beginCall(of task: ChannelTask, now: Date) async throws -> Bool

    /// Extends the lease of a task until `until`. Nothing happens if another replica has the lease by now.
    func extendLease(of task: ChannelTask, until: Date) async throws

    /// Leases one channel for deletion.
    ///
    /// - Throws: `channel-not-found`; `channel-in-use` if a live event needs the channel and `force` is false.
    func beginDeletion(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment, force: Bool, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask

    /// Leases one retiring channel for deletion before its planned time, because the app has as many channels as its
    /// limit or Apple allows: one that no device needs any longer, and whose place the creation may take
    /// (`ChannelTenure`). Channels with the earliest planned time go first.
    ///
    /// - Parameter creation: the channel that needs the place; `nil`: one that an operator creates now.
    func reclaim(
        _ app: AppEnvironment, for creation: UUID?, now: Date, leasedUntil: Date
    ) async throws -> [ChannelTask]

    /// Records the outcome of the call to Apple for `task`, and ends the lease. If the channel is active, the lane for
    /// its messages gets the channel. If another caller has the lease by now, the outcome changes nothing, but an ID
    /// that Apple issued is never lost.
    ///
    /// - Returns: the channel after the outcome was recorded.
    func record(_ outcome: ChannelOutcome, of task: ChannelTask, by actor: AuditActor, now: Date) async throws
        -> Channel

    /// The address for calls to APNs for an app, including its quirks; `nil`: no such app.
    func address(of bundleID: BundleID, in environment: APNsEnvironment) async throws -> APNsAddress?

    /// The quota of every app, in both environments. Deleted channels are not counted.
    func quotas(now: Date, tenure: ChannelTenure) async throws -> [Quota]
}

extension ChannelStore {
    /// A channel of the ledger, by its ID.
    ///
    /// - Throws: `app-not-found`, `channel-not-found`.
    package func recorded(
        _ id: UUID, of app: AppEnvironment, among apps: any AppStore
    ) async throws -> Channel {
        if let channel = try await channel(id, of: app.bundleID, in: app.environment) { return channel }
        _ = try await apps.registered(app.bundleID)
        throw Problem(
            .channelNotFound,
            "\(app.bundleID) has no channel \(id.uuidString.lowercased()) in \(app.environment.rawValue). Paths take id, "
                + "not Apple's channelId.")
    }
}

/// A channel to be created.
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

/// A channel that was created elsewhere and is to be taken over, as Apple described it.
package struct ChannelImport: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// Apple's ID.
    package var channelID: String
    package var storagePolicy: StoragePolicy
    package var label: String?
    /// The event that it will serve.
    package var eventKey: EventKey?
    /// The variant of the audience of that event; `nil`: the audience without a variant.
    package var variant: Variant?
    /// The caller's reach. It limits the events that the channel may serve.
    package var reach: AppReach
    /// Apple's answer that contained the policy.
    package var answer: APNsRecord

    package init(
        bundleID: BundleID, environment: APNsEnvironment, channelID: String, storagePolicy: StoragePolicy,
        label: String?, eventKey: EventKey?, variant: Variant? = nil, within reach: AppReach = .all, answer: APNsRecord
    ) {
        self.reach = reach
        self.bundleID = bundleID
        self.environment = environment
        self.channelID = channelID
        self.storagePolicy = storagePolicy
        self.label = label
        self.eventKey = eventKey
        self.variant = variant
        self.answer = answer
    }
}

/// A filter of channels; a member that is `nil` does not filter.
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

/// A leased channel, with everything that a call to Apple needs.
package struct ChannelTask: Sendable, Hashable {
    package var channel: Channel
    package var address: APNsAddress
    /// When the server asked Apple for the newest list of the app's channels that it could read completely; `nil`: no
    /// list was read yet.
    package var listAskedAt: Date?

    package init(channel: Channel, address: APNsAddress, listAskedAt: Date? = nil) {
        self.channel = channel
        self.address = address
        self.listAskedAt = listAskedAt
    }
}

/// The outcome of a call to Apple about one channel, with Apple's answer.
package struct ChannelOutcome: Sendable, Hashable {
    package enum Change: Sendable, Hashable {
        /// Apple issued this ID.
        case created(channelID: String)
        /// The creation was refused or not tried. The channel is now in `state`. It is tried again at `nextAttemptAt`;
        /// `nil`: never.
        case notCreated(state: Channel.State, nextAttemptAt: Date?)
        /// Apple may have created a channel. From `settleableAt` on, Apple's list shows whether it did.
        case unanswered(settleableAt: Date)
        /// Apple deleted the channel, or did not know it.
        case deleted
        /// The channel was not deleted. The deletion is tried again at `nextAttemptAt`.
        case notDeleted(nextAttemptAt: Date)
    }

    package var change: Change
    package var answer: APNsRecord

    package init(_ change: Change, _ answer: APNsRecord) {
        self.change = change
        self.answer = answer
    }
}
