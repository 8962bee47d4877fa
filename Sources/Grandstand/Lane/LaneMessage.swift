package import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// One broadcast's message to a channel, or to the tokens of an audience, without its content: a row of `deliveries`.
package struct LaneMessage: Sendable, Hashable {
    /// The ID of the message's row; `nil`: the row is not written yet.
    package var id: Int?
    package let broadcast: UUID
    package var state: Contract.DeliveryState
    package let isEnd: Bool
    /// For an `end`: when its activity leaves lock screens, as the organiser asked, in seconds since 1970.
    package let dismissalDate: Int?
    package var priority: APNsPriority
    /// The priority if the message is sent without its alert.
    package let silentPriority: APNsPriority
    /// Whether it still has an alert.
    package var hasAlert: Bool
    /// When the message's alert becomes too old to ring. After this time the message is sent without the alert. `nil`:
    /// the alert may ring until the message expires.
    package internal(set) var ringsUntil: Date?
    /// The `apns-expiration` header.
    package internal(set) var apnsExpiration: Int
    package let expiresAt: Date
    /// Requests to APNs, including the one under way.
    package var attempts: Int
    /// Requests that APNs is known not to have processed (`ClaimedDelivery.mayHaveBeenProcessed`).
    package var unprocessed: Int
    package var nextAttemptAt: Date?
    /// The `aps.timestamp`. It is set by the first attempt; repetitions use the same value.
    package var timestamp: Int?
    package var requestID: UUID
    package var uniqueID: String?
    /// Apple's ID of the channel that it was sent to, or will be sent to.
    package var channelID: String?
    /// APNs' reason, or why the message waits.
    package var reason: String?
    package var settledAt: Date?
    /// Whether it changes the content. An `end` may leave the content unchanged.
    package var hasContent: Bool
    /// The broadcast whose content was the newest before this message.
    package var contentBefore: UUID?
    /// The broadcast whose content the last attempt had; `nil`: the message's own broadcast.
    package var contentOf: UUID?
    /// Whether its content was already sent, in the message of an earlier broadcast that had an alert.
    package var contentCarried: Bool
    /// The bytes of the content that is sent; `nil`: not known.
    package var contentBytes: Int?
    /// The bytes of its alert; `nil`: none, or not known.
    package let alertBytes: Int?
    /// The progress of a message to tokens; `nil`: it goes to the channel.
    package var tokens: TokenProgress?

    package init(
        id: Int? = nil, broadcast: UUID, state: Contract.DeliveryState = .queued, isEnd: Bool = false,
        dismissalDate: Int? = nil, priority: APNsPriority = .powerAware, silentPriority: APNsPriority = .powerAware,
        hasAlert: Bool = false, ringsUntil: Date? = nil, apnsExpiration: Int = 0, expiresAt: Date, attempts: Int = 0,
        unprocessed: Int = 0, nextAttemptAt: Date? = nil, timestamp: Int? = nil, requestID: UUID,
        uniqueID: String? = nil,
        channelID: String? = nil, reason: String? = nil, settledAt: Date? = nil, hasContent: Bool = true,
        contentBefore: UUID? = nil, contentOf: UUID? = nil, contentCarried: Bool = false, contentBytes: Int? = nil,
        alertBytes: Int? = nil, tokens: TokenProgress? = nil
    ) {
        self.id = id
        self.broadcast = broadcast
        self.state = state
        self.isEnd = isEnd
        self.dismissalDate = dismissalDate
        self.priority = priority
        self.silentPriority = silentPriority
        self.hasAlert = hasAlert
        self.ringsUntil = ringsUntil
        self.apnsExpiration = apnsExpiration
        self.expiresAt = expiresAt
        self.attempts = attempts
        self.unprocessed = unprocessed
        self.nextAttemptAt = nextAttemptAt
        self.timestamp = timestamp
        self.requestID = requestID
        self.uniqueID = uniqueID
        self.channelID = channelID
        self.reason = reason
        self.settledAt = settledAt
        self.hasContent = hasContent
        self.contentBefore = contentBefore
        self.contentOf = contentOf
        self.contentCarried = contentCarried
        self.contentBytes = contentBytes
        self.alertBytes = alertBytes
        self.tokens = tokens
    }

    package var kind: Contract.DeliveryKind { tokens == nil ? .channel : .tokens }

    /// The broadcast whose content the message is sent with.
    package var source: UUID { contentOf ?? broadcast }

    /// Whether its deadline, or the time in its `apns-expiration` header, has passed. A request with a past time in the
    /// header is never made.
    package func isExpired(at now: Date) -> Bool {
        expiresAt <= now || apnsExpiration != 0 && Double(apnsExpiration) <= now.timeIntervalSince1970
    }

    /// Whether its alert is fresh enough to ring.
    package func rings(at now: Date) -> Bool { hasAlert && ringsUntil ?? expiresAt > now }

    /// Whether the message was sent without its alert, because the alert was too old to ring.
    var alertLapsed: Bool { alertBytes != nil && !hasAlert }

    /// The reason of a delivery whose message was sent without its alert (`alertLapsed`).
    static let lapseReason = "the alert was too old to ring"

    /// Whether APNs may have processed an attempt.
    var mayHaveBeenProcessed: Bool { attempts > unprocessed }

    /// Whether it is certain that nobody got the message or its content: the message was never tried, or APNs refused
    /// it each time.
    package var reachedNobody: Bool {
        guard !mayHaveBeenProcessed, attempts > 0 || timestamp == nil, !contentCarried else { return false }
        return switch state {
        // `.rejected` counts, too: APNs refused every attempt, or there was no attempt because the message was too
        // large for a token.
        case .waiting, .queued, .superseded, .cancelled, .rejected: true
        case .sending, .accepted, .expired, .unknown: false
        }
    }

    /// Gives the message its final state.
    ///
    /// - Parameter why: the new `reason`; `nil`: the reason stays.
    mutating func settle(_ state: Contract.DeliveryState, at time: Date, _ why: String? = nil) {
        self.state = state
        settledAt = time
        nextAttemptAt = nil
        reason = why ?? reason
    }
}
