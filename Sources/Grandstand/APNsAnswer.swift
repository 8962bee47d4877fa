package import APNsWire
package import FoundationEssentials

/// The outcome of a call to APNs. A refusal is a value, and silence is a third outcome.
package enum APNsAnswer<Value: Sendable>: Sendable {
    case accepted(Value, APNsReceipt)
    case refused(APNsRefusal)
    /// The call may have been processed: only the layer that knows what repeating it means may repeat it.
    case unanswered(String)
    /// APNs never saw the call: no connection, no free stream. Safe to repeat.
    case unsent(String)
    /// It was never tried, for something of this server's is missing: a key file, an endpoint.
    /// Says nothing about APNs' health.
    case withheld(String)
}

extension APNsAnswer: Equatable where Value: Equatable {}

extension APNsAnswer {
    /// Whether APNs did what was asked, or may have.
    package var mayBeProcessed: Bool {
        switch self {
        case .accepted, .unanswered: true
        case .refused(let refusal): refusal.leavesOpen
        case .unsent, .withheld: false
        }
    }

    /// Whether APNs throttles requests.
    package var isTooManyRequests: Bool {
        if case .refused(let refusal) = self { refusal.isTooManyRequests } else { false }
    }
}

/// How Apple names an accepted call.
package struct APNsReceipt: Sendable, Hashable {
    package var requestID: String?
    /// Apple's own ID of a message; Apple documents it for broadcasts in every environment.
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
    /// Seconds APNs asked to wait; no page of Apple's documents that it sends this. Of a provider token that APNs
    /// refuses: seconds until a request may carry it again.
    package var retryAfter: Int?
    /// APNs was not asked: it had refused the provider token, which is not sent again before `retryAfter`.
    package var isHeldBack = false
    /// The time since which a device token is not valid any more (docs/internals/apns.md 3.3).
    package var since: Date?

    package init(
        status: Int, reason: APNsReason, requestID: String? = nil, retryAfter: Int? = nil, since: Date? = nil
    ) {
        self.status = status
        self.reason = reason
        self.requestID = requestID
        self.retryAfter = retryAfter
        self.since = since
    }

    /// A request that was not sent, because APNs refused the provider token of others.
    package static func heldBack(by refusal: KeyRefusal, seconds: TimeInterval) -> APNsRefusal {
        var refused = APNsRefusal(
            status: 403, reason: refusal.reason, retryAfter: max(1, Int(seconds.rounded(.up))))
        refused.isHeldBack = true
        return refused
    }

    /// Whether APNs refuses the provider token, and requests with it wait: one log line says so for all of them.
    package var isOfRefusedKey: Bool { reason.concernsProviderToken && retryAfter != nil }

    package var meaning: APNsReason.Meaning { reason.meaning(status: status) }

    /// Whether APNs throttles requests. Provider tokens that were renewed too often are another matter.
    package var isTooManyRequests: Bool { status == 429 && reason != .tooManyProviderTokenUpdates }

    /// Whether the request may have been processed all the same: 503 says that the service did not take it, any other
    /// 5xx tells of a failure in the midst of it (docs/internals/apns.md C17).
    package var leavesOpen: Bool { status >= 500 && status != 503 }
}
