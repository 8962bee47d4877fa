package import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// One APNs broadcast channel: our record of an ID that Apple stores without a name. What rules need besides
/// `Contract.Channel` is which audience it serves and how often Apple was asked.
package struct Channel: Sendable, Hashable, Decodable {
    /// Our ID, used in paths.
    package var id: UUID
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// Apple's ID: opaque text, compared byte for byte. `nil` until Apple has answered the creation.
    package var channelID: String?
    package var storagePolicy: StoragePolicy
    package var state: State
    /// The event that the channel serves; `nil` for a channel created or imported by hand.
    package var eventKey: EventKey?
    package var label: String?
    /// Why the channel waits or failed, as text for operators.
    package var reason: String?
    /// The number of calls to Apple in the present state.
    package var attempts: Int
    package var nextAttemptAt: Date?
    package var createdAt: Date
    /// The variant of the audience that the channel serves.
    package var variant: Variant?

    /// The app that the channel is for.
    package var app: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: environment) }

    /// The audience that the channel serves, within its event.
    package var audience: Audience.ID {
        Audience.ID(bundleID: bundleID, environment: environment, variant: variant)
    }

    /// The contract's word; the Postgres type and the diagram in docs/internals/states.md use the same words.
    package typealias State = Contract.ChannelState
}

extension Channel.State {
    /// Whether a channel in this state uses one of the app's places at Apple, or is about to.
    package var countsAgainstQuota: Bool { traits.contains(.countsAgainstQuota) }

    /// The only table of the properties of each state. Swift code reads it, and the state lists in SQL are
    /// generated from it (`Channel.State.sql`). A test compares the predicates of indexes with it.
    package var traits: Traits {
        switch self {
        case .creating: [.countsAgainstQuota, .servesAudience, .isIntent, .isReconciled, .awaitsCall]
        case .active: [.isAtApple, .countsAgainstQuota, .takesMessages, .servesAudience, .isReconciled]
        case .retiring: [.isAtApple, .countsAgainstQuota, .takesMessages, .isReconciled, .awaitsCall]
        case .deleting: [.isAtApple, .countsAgainstQuota, .isReconciled, .awaitsCall]
        case .deleted, .unknown: []
        case .missing: [.servesAudience, .isReconciled]
        case .failed: [.servesAudience, .isIntent]
        }
    }

    /// The states that may follow this one. All changes are made by `ChannelStore.move`, and a test compares them with
    /// the drawing in docs/internals/states.md.
    package var next: Set<Self> {
        switch self {
        case .creating: [.creating, .active, .failed, .deleted]
        case .failed: [.creating, .failed, .deleted]
        case .active: [.active, .retiring, .missing, .deleting]
        case .missing: [.active, .deleting, .deleted]
        case .retiring: [.active, .deleting, .deleted]
        case .deleting: [.deleting, .deleted]
        case .deleted: [.active, .deleting]
        case .unknown: []
        }
    }

    /// The state that the event's organiser sees.
    package var shown: Contract.AudienceChannelState {
        switch self {
        case .creating, .missing: .pending
        case .active: .active
        case .retiring, .deleting: .retiring
        case .deleted, .unknown: .deleted
        case .failed: .failed
        }
    }

    /// The states with all of these traits.
    package static func having(_ traits: Traits) -> [Self] { allCases.filter { $0.traits.isSuperset(of: traits) } }

    /// Properties of a channel that follow from its state.
    package struct Traits: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The channel exists at Apple, as far as we know.
        package static let isAtApple = Traits(rawValue: 1)
        /// The channel uses one of the app's places at Apple, or is about to.
        package static let countsAgainstQuota = Traits(rawValue: 2)
        /// Messages are sent to the channel, and lookups return it.
        package static let takesMessages = Traits(rawValue: 4)
        /// The channel is the current channel of its audience. An audience has at most one current channel.
        package static let servesAudience = Traits(rawValue: 8)
        /// The channel is an intent. The intent may be dropped, unless a call to Apple is under way for it
        /// (`called_at`).
        package static let isIntent = Traits(rawValue: 16)
        /// Apple has the channel, had it or may be creating it. Reconciliation compares the channel with Apple's list,
        /// and the channel's app cannot be deleted.
        package static let isReconciled = Traits(rawValue: 32)
        /// A call to Apple is made for the channel at `nextAttemptAt`.
        package static let awaitsCall = Traits(rawValue: 64)
    }
}
