package import APNsWire
package import FoundationEssentials

/// The ledger of channels: why each exists, and what has to be done about it.
package protocol ChannelStore: Sendable {
    /// Writes the intent to create a channel, within the app's limit, leased to the caller until `leasedUntil`.
    ///
    /// - Throws: `app-not-found`, `quota-exhausted`.
    func reserve(_ draft: ChannelDraft, now: Date, leasedUntil: Date) async throws -> ChannelTask

    /// Takes over a channel that exists at Apple already.
    ///
    /// - Throws: `app-not-found`; `channel-exists` when the ledger has the channel, or the event has one for this
    ///   audience; `event-not-found`, `event-ended`; `invalid-request` when the event has no such audience.
    func `import`(_ channel: ChannelImport, by actor: AuditActor, now: Date) async throws -> Channel

    func channel(_ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment) async throws -> Channel?

    func channels(
        of bundleID: BundleID, in environment: APNsEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Page<Channel>

    /// Unmanaged channels by the order of their IDs.
    func unmanagedChannels(
        of bundleID: BundleID, in environment: APNsEnvironment, _ page: PageRequest
    ) async throws -> Page<UnmanagedChannel>

    /// Brings the ledger to what the events ask for: closes events whose end never came, opens intents for audiences
    /// whose time has come, retires the channels of events that are over, drops intents that are not needed any more,
    /// and has retiring channels that no device needs deleted when others want their places. Scarce places go by need:
    /// by when an event needs its channel, then by kick-off, then by declaration. Idempotent.
    ///
    /// - Returns: how many channels changed.
    func align(now: Date, tenure: ChannelTenure) async throws -> Int

    /// Leases channels for which a call to Apple is due: creations, retirements whose time has come, deletions. A creation
    /// whose outcome is not known is never claimed again: see `ReconciliationStore`.
    func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask]

    /// When the next channel will be due; `nil`: none waits.
    func nextDue(now: Date) async throws -> Date?

    /// The call to Apple that a creation was leased for begins only now.
    ///
    /// - Returns: whether the lease is still the task's.
    func beginCall(of task: ChannelTask, now: Date) async throws -> Bool

    /// The task is still worked on: nobody takes its channel over until `until`. Nothing happens when the lease is
    /// another's by now.
    func extendLease(of task: ChannelTask, until: Date) async throws

    /// Leases one channel for deletion.
    ///
    /// - Throws: `channel-not-found`; `channel-in-use` while a live event needs it and `force` is false.
    func beginDeletion(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment, force: Bool, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask

    /// Leases for deletion retiring channels that no device needs any more though their time has not come, the first to
    /// go first: the app has as many channels as its limit or Apple allows.
    func reclaim(_ app: AppEnvironment, limit: Int, now: Date, leasedUntil: Date) async throws -> [ChannelTask]

    /// Records what became of the call to Apple that `task` was leased for, and ends the lease. Activation hands the
    /// lane its channel. An outcome that comes after the lease went to another caller changes nothing, but never loses
    /// an ID that Apple issued.
    ///
    /// - Returns: the channel as it is then.
    func record(_ outcome: ChannelOutcome, of task: ChannelTask, by actor: AuditActor, now: Date) async throws
        -> Channel

    /// The address APNs is asked with for an app, quirks included; `nil`: no such app.
    func address(of bundleID: BundleID, in environment: APNsEnvironment) async throws -> APNsAddress?

    /// Every app's quota, both environments. What was deleted is not counted.
    func quotas(now: Date, tenure: ChannelTenure) async throws -> [Quota]
}

extension ChannelStore {
    /// A channel of the ledger.
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

/// A channel made elsewhere, as Apple described it, to be taken over.
package struct ChannelImport: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// Apple's.
    package var channelID: String
    package var storagePolicy: StoragePolicy
    package var label: String?
    /// The event it shall serve.
    package var eventKey: EventKey?
    /// Of the audience of that event; `nil`: the one without.
    package var variant: Variant?
    /// The reach that limits the events it may serve.
    package var reach: AppReach
    /// The policy that Apple answered with.
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
    /// When Apple's list of the app was last asked for and read whole.
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
        /// Creation was refused or never asked: in `state`, and once more at `nextAttemptAt`, or never when that is `nil`.
        case notCreated(state: Channel.State, nextAttemptAt: Date?)
        /// Apple may have made a channel. From `settleableAt` on its list tells.
        case unanswered(settleableAt: Date)
        /// Apple deleted it or did not know it.
        case deleted
        /// Deletion did not happen: once more at `nextAttemptAt`.
        case notDeleted(nextAttemptAt: Date)
    }

    package var change: Change
    package var answer: APNsRecord

    package init(_ change: Change, _ answer: APNsRecord) {
        self.change = change
        self.answer = answer
    }
}
