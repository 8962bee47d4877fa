/// The state of an installation's start; the same words are a Postgres type.
package enum StartState: String, Sendable, Hashable, CaseIterable {
    /// The push was not sent yet, or APNs is known not to have processed it.
    case pending
    /// A replica sends the push. If the replica's lease ends without an answer, the start becomes `unknown`.
    case sending
    /// APNs accepted the push with 200. That does not mean that a phone showed it.
    case accepted
    case rejected
    /// No answer came, or the replica that waited for it died. The start is not repeated.
    case unknown

    /// Whether the start is neither pending nor being sent.
    package var isSettled: Bool {
        switch self {
        case .pending, .sending: false
        case .accepted, .rejected, .unknown: true
        }
    }

    /// - Returns: `nil`: the start is sent again.
    package init?(_ verdict: TokenVerdict) {
        switch verdict {
        case .accepted: self = .accepted
        case .rejected, .expired, .gone, .suspect: self = .rejected
        case .unknown: self = .unknown
        case .retry: return nil
        }
    }
}

extension TokenVerdict {
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
