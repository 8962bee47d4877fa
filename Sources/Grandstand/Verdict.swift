package import APNsWire
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
    package static let maxDoubtAttempts = 8

    /// Judges the answer to attempt number `attempts` of a delivery that is worth sending until `expiresAt`.
    package init(_ answer: APNsAnswer<Void>, attempts: Int, expiresAt: Date, now: Date, jitter: Double) {
        switch answer {
        case .accepted(_, let receipt): self = .accepted(receipt)
        case .refused(let refusal) where refusal.meaning == .targetGone:
            let next = RetryPolicy.inDoubt.nextAttempt(after: attempts, now: now, jitter: jitter)
            self = .channelDoubted(refusal, next: attempts < Self.maxDoubtAttempts && next < expiresAt ? next : nil)
        case .refused(let refusal) where !refusal.isTemporary: self = .rejected(refusal)
        case .refused, .unanswered, .unsent, .withheld:
            let (next, reason, isTold) = answer.retry(after: attempts, now: now, jitter: jitter)
            self =
                next >= expiresAt
                ? .expired(reason: reason)
                : isTold ? .throttled(until: next, reason: reason) : .retry(at: next, reason: reason)
        }
    }
}

extension APNsRefusal {
    /// Whether the same request may be accepted later.
    fileprivate var isTemporary: Bool { [.credentials, .throttled, .unavailable].contains(meaning) }
}

extension APNsAnswer {
    /// When the same request is sent again after attempt number `attempts`, why, and whether APNs said when. Not for
    /// requests that APNs accepted.
    fileprivate func retry(
        after attempts: Int, now: Date, jitter: Double
    ) -> (at: Date, reason: String, isTold: Bool) {
        let reason =
            switch self {
            case .accepted: ""
            case .refused(let refusal): refusal.reason.rawValue
            case .unanswered(let text), .unsent(let text), .withheld(let text): text
            }
        // A refused key is retried at a steady pace, however often the message was tried.
        let next = RetryPolicy.broadcasts.nextAttempt(
            after: refusal?.isOfRefusedKey == true ? 1 : attempts, now: now, retryAfter: refusal?.retryAfter,
            jitter: jitter)
        return (next, reason, refusal?.retryAfter != nil)
    }
}

/// The consequence of APNs' answer to a push to one device token. Pure.
package enum TokenVerdict: Sendable, Hashable {
    case accepted
    /// APNs provably did not process the push, or asked to send it again. The same push may be sent at this time.
    case retry(at: Date, reason: String)
    /// No answer came, or the answer does not say whether APNs processed the push (`APNsRefusal.mayHaveBeenProcessed`).
    case unknown(reason: String)
    /// APNs refused the push for good, for a reason that does not concern the token.
    case rejected(reason: String)
    /// The push's deadline passed before APNs accepted it.
    case expired(reason: String)
    /// The token is no longer valid (`Unregistered`, `ExpiredToken`). It is removed if it was registered before
    /// `since`.
    case gone(reason: String, since: Date?)
    /// APNs refuses the token in a way that may be this server's mistake (`BadDeviceToken`, `DeviceTokenNotForTopic`:
    /// another environment or app). The refusal is counted, and the token is not used until it is registered again.
    case suspect(reason: String)

    /// The reasons of `suspect`.
    package static let suspectReasons: Set<APNsReason> = [.badDeviceToken, .deviceTokenNotForTopic]
    /// The reasons of `gone`.
    private static let goneReasons: Set<APNsReason> = [.unregistered, .expiredToken]
    /// The reasons that concern the token. Such a push did nothing, and an installation that has another token is tried
    /// again.
    package static let tokenReasons = suspectReasons.union(goneReasons)

    /// Judges the answer to attempt number `attempts`.
    ///
    /// - Parameter deadline: a push expires if its next attempt would be later than this.
    package init(_ answer: APNsAnswer<Void>, attempts: Int, deadline: Date, now: Date, jitter: Double) {
        switch answer {
        case .accepted: self = .accepted
        case .unanswered(let text): self = .unknown(reason: text)
        case .refused(let refusal) where refusal.mayHaveBeenProcessed: self = .unknown(reason: refusal.reason.rawValue)
        case .refused(let refusal) where Self.goneReasons.contains(refusal.reason):
            self = .gone(reason: refusal.reason.rawValue, since: refusal.goneSince)
        case .refused(let refusal) where Self.suspectReasons.contains(refusal.reason):
            self = .suspect(reason: refusal.reason.rawValue)
        case .refused(let refusal) where !refusal.isTemporary: self = .rejected(reason: refusal.reason.rawValue)
        case .refused, .unsent, .withheld:
            let (next, reason, _) = answer.retry(after: attempts, now: now, jitter: jitter)
            self = next < deadline ? .retry(at: next, reason: reason) : .expired(reason: reason)
        }
    }

    /// APNs' reason, or why there was no answer; `nil` for `accepted`.
    package var reason: String? {
        switch self {
        case .accepted: nil
        case .retry(_, let reason), .unknown(let reason), .rejected(let reason),
            .expired(let reason), .gone(let reason, _), .suspect(let reason):
            reason
        }
    }
}
