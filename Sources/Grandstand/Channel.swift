package import APNsWire
package import FoundationEssentials

/// One APNs broadcast channel: what is known here of an ID that Apple keeps without a name.
package struct Channel: Sendable, Hashable {
    /// Ours; what paths take.
    package var id: UUID
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// Apple's: opaque text, compared byte for byte; `nil` until Apple has answered the creation.
    package var channelID: String?
    package var storagePolicy: StoragePolicy
    package var state: State
    /// The event it serves; `nil` for a channel created or imported by hand.
    package var eventKey: EventKey?
    package var label: String?
    /// Why it is in a state that waits or failed, in words for ops.
    package var reason: String?
    /// Calls to Apple made for the present state.
    package var attempts: Int
    package var nextAttemptAt: Date?
    package var createdAt: Date

    package init(
        id: UUID, bundleID: BundleID, environment: APNsEnvironment, channelID: String?, storagePolicy: StoragePolicy,
        state: State, eventKey: EventKey?, label: String?, reason: String?, attempts: Int, nextAttemptAt: Date?,
        createdAt: Date
    ) {
        self.id = id
        self.bundleID = bundleID
        self.environment = environment
        self.channelID = channelID
        self.storagePolicy = storagePolicy
        self.state = state
        self.eventKey = eventKey
        self.label = label
        self.reason = reason
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.createdAt = createdAt
    }

    /// Where a channel stands; the same words are a Postgres type and the drawing in docs/life-cycles.md.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Intent is written, Apple has not answered yet.
        case creating
        /// Apple issued an ID; lookups answer it.
        case active
        /// No event needs it any more; kept while a device may still.
        case retiring
        /// The deletion is being asked of Apple.
        case deleting
        /// Apple confirmed, or did not know it. Final.
        case deleted
        /// Apple no longer has it though an event needs it.
        case missing
        /// Apple refused its creation, or the quota did; tried again at `nextAttemptAt`.
        case failed

        /// Whether a channel in this state takes one of the app's places at Apple, or is about to.
        package var countsAgainstQuota: Bool {
            switch self {
            case .creating, .active, .retiring, .deleting: true
            case .deleted, .missing, .failed: false
            }
        }
    }
}
