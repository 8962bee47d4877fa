/// The final state of an installation's start; the same words are a Postgres type.
package enum StartState: String, Sendable, Hashable, CaseIterable {
    /// APNs said 200: never "shown".
    case accepted
    case rejected
    /// The answer never came, or the replica that waited for it died: it is not repeated.
    case unknown

    /// - Returns: `nil`: it goes again.
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
    /// APNs' reason, or why there was no answer; `nil` of what was accepted.
    package var reason: String? {
        switch self {
        case .accepted: nil
        case .retry(_, let reason), .unknown(let reason), .rejected(let reason),
            .expired(let reason), .gone(let reason, _), .suspect(let reason):
            reason
        }
    }
}
