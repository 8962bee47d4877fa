package import APNsWire
package import FoundationEssentials

/// One message of a broadcast on its way to one channel, or to a crowd of tokens.
package struct Delivery: Sendable, Hashable {
    /// The outcomes of a crowd's message, counted by token.
    package struct Counts: Sendable, Hashable {
        package var total = 0
        /// APNs said 200.
        package var accepted = 0
        /// Refused for good.
        package var rejected = 0
        /// Their tokens were no good any more.
        package var gone = 0
        /// Not reached before the message's time ran out.
        package var expired = 0
        package var pending = 0

        package init() {}

        /// - Parameter state: the message's; members that it did not reach before it was settled get nothing of it.
        package init(_ fanOut: FanOut, _ state: State) {
            total = fanOut.total
            accepted = fanOut.accepted
            rejected = fanOut.rejected
            gone = fanOut.gone
            expired = fanOut.expired + (state == .expired ? fanOut.pending : 0)
            pending = state.isSettled ? 0 : fanOut.pending
        }
    }

    /// `nil`: it goes to a channel.
    package var counts: Counts?
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// Of its audience.
    package var variant: Variant?
    /// The channel it was last sent to, or will be; `nil` while none exists.
    package var channelID: String?
    package var state: State
    /// Requests made to Apple.
    package var attempts: Int
    package var priority: APNsPriority
    /// The value of the `apns-expiration` header: seconds since 1970, or 0.
    package var apnsExpiration: Int
    /// The value of `aps.timestamp`, given when it is first sent and kept on retries.
    package var timestamp: Int?
    package var apnsRequestID: UUID
    package var apnsUniqueID: String?
    /// Apple's reason, or why it waits.
    package var reason: String?
    package var nextAttemptAt: Date?
    package var settledAt: Date?
    /// Of one that is superseded: the broadcast that took its place, as far as that is known.
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

    /// Whether it goes to the same app and environment; a crowd has no variants.
    package func isTo(_ other: Delivery) -> Bool { bundleID == other.bundleID && environment == other.environment }

    /// The state of a delivery; the same words are a Postgres type and the drawing in docs/internals/states.md.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Its audience has no channel yet.
        case waiting
        /// Waits for its turn on the lane, or for the next attempt.
        case queued
        /// A request to Apple is under way.
        case sending
        /// Apple said 200: accepted for fan-out, never "delivered".
        case accepted
        /// A newer state replaced it.
        case superseded
        /// Its time ran out.
        case expired
        /// Apple refused it for good.
        case rejected
        /// Apple's answer to a start was lost; the start is not repeated, for it may have been made.
        case unknown
        /// Withdrawn by the organiser.
        case cancelled

        /// Whether nothing more will happen to it.
        package var isSettled: Bool {
            switch self {
            case .waiting, .queued, .sending: false
            case .accepted, .superseded, .expired, .rejected, .unknown, .cancelled: true
            }
        }
    }
}
