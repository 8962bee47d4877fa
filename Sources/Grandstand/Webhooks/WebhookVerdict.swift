package import FoundationEssentials

/// A receiver's answer to a message.
package enum WebhookAnswer: Sendable, Hashable {
    /// - Parameter retryAfter: seconds that the receiver asks to wait.
    case answered(status: Int, retryAfter: Int? = nil)
    /// The receiver did not answer, or not in time.
    case unanswered(String)
    /// The message was not posted, because the address or the scheme is not allowed.
    case refused(String)
}

/// The consequence of an answer. Pure: it depends on the answer, the number of tries and the time.
package enum WebhookVerdict: Sendable, Hashable {
    /// The receiver said 2xx.
    case delivered(status: Int)
    /// Post the same message again at this time.
    case retry(at: Date, status: Int?, reason: String)
    /// No try is left.
    case failed(status: Int?, reason: String)
    /// The receiver answered 410: it wants no further messages.
    case gone

    /// Judges the answer to try number `tries`.
    package init(
        _ answer: WebhookAnswer, tries: Int, now: Date, schedule: WebhookSchedule = .standard, jitter: Double
    ) {
        var status: Int?
        var retryAfter: Int?
        let reason: String
        switch answer {
        case .answered(410, _):
            self = .gone
            return
        case .answered(let code, let seconds):
            if (200..<300).contains(code) {
                self = .delivered(status: code)
                return
            }
            status = code
            retryAfter = seconds
            reason =
                (300..<400).contains(code)
                ? "HTTP \(code): redirects are not followed; change the webhook's url" : "HTTP \(code)"
        case .unanswered(let why), .refused(let why): reason = why
        }
        guard let next = schedule.nextTry(after: tries, now: now, retryAfter: retryAfter, jitter: jitter) else {
            self = .failed(status: status, reason: reason)
            return
        }
        self = .retry(at: next, status: status, reason: reason)
    }

    /// The receiver's status, if there was one.
    package var status: Int? {
        switch self {
        case .delivered(let status): status
        case .retry(_, let status, _), .failed(let status, _): status
        case .gone: 410
        }
    }

    /// Why the receiver did not accept the message; `nil` if the receiver accepted it.
    package var reason: String? {
        switch self {
        case .delivered: nil
        case .retry(_, _, let reason), .failed(_, let reason): reason
        case .gone: "HTTP 410: the receiver wants no more messages"
        }
    }
}
