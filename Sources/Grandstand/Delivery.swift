package import APNsWire
package import FoundationEssentials

/// One message of a broadcast to one channel or to a crowd of tokens.
package struct Delivery: Sendable, Hashable {
    /// The outcomes of a message to a crowd, as numbers of tokens.
    package struct Counts: Sendable, Hashable {
        package var total = 0
        /// Tokens for which APNs answered 200.
        package var accepted = 0
        /// Tokens for which APNs refused the message for good.
        package var rejected = 0
        /// Tokens that are no longer valid.
        package var gone = 0
        /// Tokens that were not reached before the message expired.
        package var expired = 0
        package var pending = 0

        package init() {}

        /// - Parameter state: the state of the message. If it is final, tokens that were not reached do not get the
        ///   message.
        package init(_ fanOut: FanOut, _ state: State) {
            total = fanOut.total
            accepted = fanOut.accepted
            rejected = fanOut.rejected
            gone = fanOut.gone
            expired = fanOut.expired + (state == .expired ? fanOut.pending : 0)
            pending = state.isSettled ? 0 : fanOut.pending
        }
    }

    /// `nil`: the delivery goes to a channel.
    package var counts: Counts?
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// The variant of its audience.
    package var variant: Variant?
    /// The channel of the last or next attempt; `nil` while there is none.
    package var channelID: String?
    package var state: State
    /// Requests made to Apple.
    package var attempts: Int
    package var priority: APNsPriority
    /// The value of the `apns-expiration` header: seconds since 1970, or 0.
    package var apnsExpiration: Int
    /// The value of `aps.timestamp`. It is set when the message is first sent; retries use the same value.
    package var timestamp: Int?
    package var apnsRequestID: UUID
    package var apnsUniqueID: String?
    /// Apple's reason, or why the delivery waits.
    package var reason: String?
    package var nextAttemptAt: Date?
    package var settledAt: Date?
    /// The broadcast that replaced a superseded delivery; `nil`: the delivery is not superseded, or the broadcast is
    /// not known.
    package var supersededBy: UUID?

    package init(
        counts: Counts? = nil, bundleID: BundleID, environment: APNsEnvironment, channelID: String?, state: State,
        attempts: Int,
        priority: APNsPriority, apnsExpiration: Int, timestamp: Int?, apnsRequestID: UUID, apnsUniqueID: String?,
        reason: String?, nextAttemptAt: Date?, settledAt: Date?, variant: Variant? = nil
    ) {
        self.counts = counts
        self.bundleID = bundleID
        self.environment = environment
        self.variant = variant
        self.channelID = channelID
        self.state = state
        self.attempts = attempts
        self.priority = priority
        self.apnsExpiration = apnsExpiration
        self.timestamp = timestamp
        self.apnsRequestID = apnsRequestID
        self.apnsUniqueID = apnsUniqueID
        self.reason = reason
        self.nextAttemptAt = nextAttemptAt
        self.settledAt = settledAt
    }

    /// The state of a delivery. The Postgres type and the diagram in docs/internals/states.md use the same words.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Its audience has no channel yet.
        case waiting
        /// Waits for earlier messages of the lane, or for the next attempt.
        case queued
        /// A request to Apple is under way.
        case sending
        /// Apple answered 200: it accepted the message for fan-out. This does not mean that devices got it.
        case accepted
        /// A newer state replaced it.
        case superseded
        /// The message expired.
        case expired
        /// Apple refused it for good.
        case rejected
        /// The organiser withdrew the message.
        case cancelled

        /// Whether this state is final.
        package var isSettled: Bool {
            switch self {
            case .waiting, .queued, .sending: false
            case .accepted, .superseded, .expired, .rejected, .cancelled: true
            }
        }
    }
}
