package import APNsWire
package import FoundationEssentials

/// One message of a broadcast on its way to one channel.
package struct Delivery: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
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
    /// What Apple said, or why it waits.
    package var reason: String?
    package var nextAttemptAt: Date?
    package var settledAt: Date?

    package init(
        bundleID: BundleID, environment: APNsEnvironment, channelID: String?, state: State, attempts: Int,
        priority: APNsPriority, apnsExpiration: Int, timestamp: Int?, apnsRequestID: UUID, apnsUniqueID: String?,
        reason: String?, nextAttemptAt: Date?, settledAt: Date?
    ) {
        self.bundleID = bundleID
        self.environment = environment
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

    /// Where a delivery stands; the same words are a Postgres type and the drawing in docs/life-cycles.md.
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
        /// Withdrawn by the organiser.
        case cancelled

        /// Whether nothing more will happen to it.
        package var isSettled: Bool {
            switch self {
            case .waiting, .queued, .sending: false
            case .accepted, .superseded, .expired, .rejected, .cancelled: true
            }
        }
    }
}
