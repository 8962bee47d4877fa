internal import APNsWire
package import FoundationEssentials

/// The consequence of APNs' answer to a delivery. Pure: answer, attempts, deadline and now decide.
package enum Verdict: Sendable, Equatable {
    /// Apple said 200.
    case accepted(APNsReceipt)
    /// Send the same message again at this time.
    case retry(at: Date, reason: String)
    /// APNs said when: nothing, not even newer state, goes to the channel before.
    case throttled(until: Date, reason: String)
    /// Refused for good.
    case rejected(APNsRefusal)
    /// Apple says that it does not know the channel, which a reconciliation looks into. The same message goes again at
    /// `next`; `nil`: it is refused for good.
    case channelDoubted(APNsRefusal, next: Date?)
    /// The next try would come after the deadline.
    case expired(reason: String)
    /// The answer to a start never came, or says nothing of that (`APNsRefusal.leavesOpen`): it may have been made, and
    /// made again it would be a second card.
    case unknown(reason: String)

    /// The kind of message, as far as an answer's meaning depends on it.
    package enum Subject: Sendable, Hashable {
        /// A broadcast to a channel.
        case broadcast
        /// An update or an end to a token.
        case push
        /// A push that starts an activity.
        case start
    }

    /// Attempts of a message that Apple refuses because of a channel it has: some two minutes.
    package static let doubtfulAttempts = 8

    /// Judges the answer to attempt number `attempts` of a delivery that is worth sending until `expiresAt`.
    package init(
        _ answer: APNsAnswer<Void>, of subject: Subject = .broadcast, attempts: Int, expiresAt: Date, now: Date,
        policy: RetryPolicy = .broadcasts, jitter: Double
    ) {
        let reason: String
        var retryAfter: Int?
        var attempts = attempts
        switch answer {
        case .accepted(_, let receipt):
            self = .accepted(receipt)
            return
        case .refused(let refusal) where subject == .start && refusal.leavesOpen:
            self = .unknown(reason: refusal.reason.rawValue)
            return
        case .refused(let refusal):
            switch refusal.meaning {
            case .badRequest, .configuration, .quota:
                self = .rejected(refusal)
                return
            case .channelGone where subject != .broadcast:
                // It is the token that is gone.
                self = .rejected(refusal)
                return
            case .channelGone:
                let next = RetryPolicy.doubts.nextAttempt(after: attempts, now: now, jitter: jitter)
                self = .channelDoubted(
                    refusal, next: attempts < Self.doubtfulAttempts && next < expiresAt ? next : nil)
                return
            case .credentials, .throttled, .unavailable:
                reason = refusal.reason.rawValue
                retryAfter = refusal.retryAfter
                // Asked about at its own pace, however often the message met that.
                if refusal.isOfRefusedKey { attempts = 1 }
            }
        case .unanswered(let text) where subject == .start:
            self = .unknown(reason: text)
            return
        case .unanswered(let text), .unsent(let text), .withheld(let text):
            reason = text
        }
        let next = policy.nextAttempt(after: attempts, now: now, retryAfter: retryAfter, jitter: jitter)
        guard next < expiresAt else {
            self = .expired(reason: reason)
            return
        }
        self = retryAfter == nil ? .retry(at: next, reason: reason) : .throttled(until: next, reason: reason)
    }
}
