package import APNsWire
package import FoundationEssentials

/// One APNs broadcast channel: the ledger's record of an ID that Apple keeps without a name.
package struct Channel: Sendable, Hashable {
    /// Ours; what paths take.
    package var id: UUID
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// Of the audience of its event that it serves.
    package var variant: Variant?
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
        createdAt: Date, variant: Variant? = nil
    ) {
        self.id = id
        self.bundleID = bundleID
        self.environment = environment
        self.variant = variant
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

    /// The audience of its event that it serves.
    package var audience: Audience.ID {
        Audience.ID(bundleID: bundleID, environment: environment, variant: variant)
    }

    /// The state of a channel; the same words are a Postgres type and the drawing in docs/internals/states.md.
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
        package var countsAgainstQuota: Bool { traits.contains(.countsAgainstQuota) }

        /// The one table of what holds in which state. Rules in Swift ask it, lists of states in SQL are made from it
        /// (`Channel.State.sql`), and a test holds the predicates of indexes to it.
        package var traits: Traits {
            switch self {
            case .creating: [.countsAgainstQuota, .servesAudience, .isIntent, .isReconciled, .awaitsCall]
            case .active: [.isAtApple, .countsAgainstQuota, .takesMessages, .servesAudience, .isReconciled]
            case .retiring: [.isAtApple, .countsAgainstQuota, .takesMessages, .isReconciled, .awaitsCall]
            case .deleting: [.isAtApple, .countsAgainstQuota, .isReconciled, .awaitsCall]
            case .deleted: []
            case .missing: [.servesAudience, .isReconciled]
            case .failed: [.servesAudience, .isIntent]
            }
        }

        /// The state that its event's organiser sees.
        package var shown: Audience.ChannelStatus.State {
            switch self {
            case .creating, .missing: .pending
            case .active: .active
            case .retiring, .deleting: .retiring
            case .deleted: .deleted
            case .failed: .failed
            }
        }

        /// The states with all of these traits.
        package static func having(_ traits: Traits) -> [State] { allCases.filter { $0.traits.isSuperset(of: traits) } }
    }
}

extension Channel.State {
    /// Properties that a channel has because of its state.
    package struct Traits: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Apple has it, as far as is known.
        package static let isAtApple = Traits(rawValue: 1)
        /// It takes one of the app's places at Apple, or is about to.
        package static let countsAgainstQuota = Traits(rawValue: 2)
        /// Messages are sent to it, and lookups answer it.
        package static let takesMessages = Traits(rawValue: 4)
        /// It is its audience's channel; an audience has one such at a time.
        package static let servesAudience = Traits(rawValue: 8)
        /// It is an intent that may be dropped, unless Apple is being asked for it (`called_at`).
        package static let isIntent = Traits(rawValue: 16)
        /// Apple has it, had it or may be making it: it is compared with Apple's list, and its app stays registered.
        package static let isReconciled = Traits(rawValue: 32)
        /// A call to Apple is made for it at `nextAttemptAt`.
        package static let awaitsCall = Traits(rawValue: 64)
    }
}
