package import APNsWire
package import FoundationEssentials

/// The outcome of a call to APNs: an answer, a refusal, or no answer at all.
package enum APNsAnswer<Value: Sendable>: Sendable {
    case accepted(Value, APNsReceipt)
    case refused(APNsRefusal)
    /// No answer came, so APNs may have processed the call. A caller may repeat the call only if it knows the effect of
    /// a repetition.
    case unanswered(String)
    /// APNs never received the call: there was no connection or no free stream. The call may be repeated.
    case unsent(String)
    /// This server did not try the call: a key file or an endpoint is missing, a lease ended, or a message expired. This
    /// case says nothing about APNs.
    case withheld(String)
}

extension APNsAnswer: Equatable where Value: Equatable {}

extension APNsAnswer {
    /// Whether APNs processed the call, or may have done so.
    package var mayHaveBeenProcessed: Bool {
        switch self {
        case .accepted, .unanswered: true
        case .refused(let refusal): refusal.mayHaveBeenProcessed
        case .unsent, .withheld: false
        }
    }

    /// Apple's refusal; `nil`: it did not refuse the call.
    package var refusal: APNsRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }

    /// Whether APNs throttles requests.
    package var isTooManyRequests: Bool { refusal?.isTooManyRequests ?? false }
}

/// The IDs that Apple gives to an accepted call.
package struct APNsReceipt: Sendable, Hashable {
    package var requestID: String?
    /// Apple's `apns-unique-id` of a message. Apple documents it for broadcasts in every environment.
    package var uniqueID: String?

    package init(requestID: String?, uniqueID: String? = nil) {
        self.requestID = requestID
        self.uniqueID = uniqueID
    }
}

/// Apple's refusal: status and reason, judged by `APNsReason`'s table.
package struct APNsRefusal: Error, Sendable, Equatable {
    package var status: Int
    package var reason: APNsReason
    package var requestID: String?
    /// Seconds that APNs asked to wait. Apple does not document that APNs sends `Retry-After`. If APNs refuses a
    /// provider token: seconds until a request may carry the token again.
    package var retryAfter: Int?
    /// The request was not sent, because APNs had refused the provider token. The token is not sent again before
    /// `retryAfter`.
    package var isHeldBack = false
    /// The time since which a device token is no longer valid (docs/internals/apns.md 3.3).
    package var goneSince: Date?

    package init(
        status: Int, reason: APNsReason, requestID: String? = nil, retryAfter: Int? = nil, since: Date? = nil
    ) {
        self.status = status
        self.reason = reason
        self.requestID = requestID
        self.retryAfter = retryAfter
        self.goneSince = since
    }

    /// The refusal of a request that was not sent, because APNs refused the provider token of earlier requests.
    package static func heldBack(by refusal: KeyRefusal, seconds: TimeInterval) -> APNsRefusal {
        var refused = APNsRefusal(
            status: refusal.reason.status ?? 403, reason: refusal.reason,
            retryAfter: max(1, Int(seconds.rounded(.up))))
        refused.isHeldBack = true
        return refused
    }

    /// Whether APNs refuses the provider token, so that requests with it wait. One log line reports all these refusals.
    package var isOfRefusedKey: Bool { reason.concernsProviderToken && retryAfter != nil }

    package var meaning: APNsReason.Meaning { reason.meaning(status: status) }

    /// Whether APNs throttles requests. A refusal because of too many renewals of a provider token does not count.
    package var isTooManyRequests: Bool { status == 429 && reason != .tooManyProviderTokenUpdates }

    /// Whether APNs may have processed the request although APNs answered with an error. 503 says that APNs did not
    /// take the request. Any other 5xx may be a failure while APNs processed the request (docs/internals/apns.md C17).
    package var mayHaveBeenProcessed: Bool { status >= 500 && status != 503 }
}
