package import APNsWire
package import FoundationEssentials

/// The consequence of APNs' answer to a push to one device token. Pure.
package enum TokenVerdict: Sendable, Hashable {
    case accepted
    /// APNs provably did not process it, or asks for it again: the same push may go at this time.
    case retry(at: Date, reason: String)
    /// The answer never came, or says nothing of that (`APNsRefusal.leavesOpen`): it may have been processed.
    case unknown(reason: String)
    /// Refused for good, for something that is not the token's.
    case rejected(reason: String)
    /// Its time ran out before APNs took it.
    case expired(reason: String)
    /// The token is no good any more (`Unregistered`, `ExpiredToken`): one that was registered before `since` is removed.
    case gone(reason: String, since: Date?)
    /// The token is refused in a way that may be our mistake (`BadDeviceToken`, `DeviceTokenNotForTopic`: another
    /// environment or app): not used until it is registered again, and counted.
    case suspect(reason: String)

    /// Refusals of a token that may be our mistake.
    package static let suspectReasons: Set<APNsReason> = [.badDeviceToken, .deviceTokenNotForTopic]

    /// Judges the answer to attempt number `attempts`.
    ///
    /// - Parameter deadline: beyond it the push is not worth another try: then it is expired.
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
