internal import APNsWire
package import FoundationEssentials

/// The consequence of APNs' answer to a delivery. Pure: it depends on the answer, the attempts, the deadline and the
/// time.
package enum Verdict: Sendable, Equatable {
    /// Apple said 200.
    case accepted(APNsReceipt)
    /// Send the same message again at this time.
    case retry(at: Date, reason: String)
    /// APNs said when to send again. Before that time, nothing is sent to the channel, not even newer state.
    case throttled(until: Date, reason: String)
    /// Apple refused the message for good.
    case rejected(APNsRefusal)
    /// Apple answers that it does not know the channel; a reconciliation checks this. The same message is sent again at
    /// `next`; `nil`: the message is refused for good.
    case channelDoubted(APNsRefusal, next: Date?)
    /// The next try would come after the deadline.
    case expired(reason: String)

    /// The most attempts of a message if Apple answers that it does not know the channel. They take about two minutes.
    package static let doubtfulAttempts = 8

    /// Judges the answer to attempt number `attempts` of a delivery that is worth sending until `expiresAt`.
    package init(
        _ answer: APNsAnswer<Void>, attempts: Int, expiresAt: Date, now: Date, policy: RetryPolicy = .broadcasts,
        jitter: Double
    ) {
        let reason: String
        var retryAfter: Int?
        var attempts = attempts
        switch answer {
        case .accepted(_, let receipt):
            self = .accepted(receipt)
            return
        case .refused(let refusal):
            switch refusal.meaning {
            case .badRequest, .configuration, .quota:
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
                // A refused key is retried at a steady pace, however often the message was tried.
                if refusal.isOfRefusedKey { attempts = 1 }
            }
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
