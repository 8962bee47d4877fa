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
    package var changedAt: Date
    /// When Apple was asked to create the channel, if the outcome of this call is not known.
    package var calledAt: Date?
    /// A list that Apple is asked for at this time or later shows the outcome of the call at `calledAt`. Before this
    /// time the call may be under way.
    package var settleableAt: Date?
    /// When Apple refused a message because it does not know the channel; `nil` once a reconciliation has checked the
    /// channel.
    package var doubtedAt: Date?
    /// Of a deleted channel: `true` if Apple confirmed the deletion, or answered that it does not know the channel.
    package var deletionConfirmed = false
    /// Of a deleted channel that Apple lists: whether its audience needs a channel. The audience needs one if the event
    /// is not over and still has this audience, and if Apple has no other channel for the audience and is not making
    /// one.
    package var isWanted = false

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
    package var countsAgainstQuota: Bool { Set.countsAgainstQuota.contains(self) }

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
}

/// The only table of the properties of each state. Swift code reads it, and the state lists in SQL are generated from it
/// (`Channel.State.sql`). A test compares the predicates of indexes with it.
extension Set<Channel.State> {
    /// The channel exists at Apple, as far as we know.
    package static var isAtApple: Self { [.active, .retiring, .deleting] }
    /// The channel uses one of the app's places at Apple, or is about to.
    package static var countsAgainstQuota: Self { [.creating, .active, .retiring, .deleting] }
    /// Messages are sent to the channel, and lookups return it.
    package static var takesMessages: Self { [.active, .retiring] }
    /// The channel is the current channel of its audience. An audience has at most one current channel.
    package static var servesAudience: Self { [.creating, .active, .missing, .failed] }
    /// The channel is an intent. The intent may be dropped, unless a call to Apple is under way for it (`called_at`).
    package static var intents: Self { [.creating, .failed] }
    /// Apple has the channel, had it or may be creating it. Reconciliation compares the channel with Apple's list, and
    /// the channel's app cannot be deleted.
    package static var isReconciled: Self { [.creating, .active, .retiring, .deleting, .missing] }
    /// A call to Apple is made for the channel at `nextAttemptAt`.
    package static var awaitsCall: Self { [.creating, .retiring, .deleting] }
}
