package import APNsWire
package import FoundationEssentials

/// The consequence of APNs' answer to a push to one device token. Pure.
package enum TokenVerdict: Sendable, Hashable {
    case accepted
    /// APNs provably did not process the push, or asked to send it again. The same push may be sent at this time.
    case retry(at: Date, reason: String)
    /// No answer came, or the answer does not say whether APNs processed the push (`APNsRefusal.leavesOpen`).
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

    /// Judges the answer to attempt number `attempts`.
    ///
    /// - Parameter deadline: a push expires if its next attempt would be later than this.
    package init(
        _ answer: APNsAnswer<Void>, attempts: Int, deadline: Date, now: Date, policy: RetryPolicy = .broadcasts,
        jitter: Double
    ) {
        let reason: String
        var retryAfter: Int?
        var attempts = attempts
        switch answer {
        case .accepted:
            self = .accepted
            return
        case .unanswered(let text):
            self = .unknown(reason: text)
            return
        case .refused(let refusal) where refusal.leavesOpen:
            self = .unknown(reason: refusal.reason.rawValue)
            return
        case .refused(let refusal):
            switch refusal.reason {
            case .unregistered, .expiredToken:
                self = .gone(reason: refusal.reason.rawValue, since: refusal.since)
                return
            case let reason where Self.suspectReasons.contains(reason):
                self = .suspect(reason: refusal.reason.rawValue)
                return
            default: break
            }
            switch refusal.meaning {
            case .credentials, .throttled, .unavailable:
                reason = refusal.reason.rawValue
                retryAfter = refusal.retryAfter
                if refusal.isOfRefusedKey { attempts = 1 }
            case .badRequest, .channelGone, .configuration, .quota:
                self = .rejected(reason: refusal.reason.rawValue)
                return
            }
        case .unsent(let text), .withheld(let text): reason = text
        }
        let next = policy.nextAttempt(after: attempts, now: now, retryAfter: retryAfter, jitter: jitter)
        self = next < deadline ? .retry(at: next, reason: reason) : .expired(reason: reason)
    }
}
