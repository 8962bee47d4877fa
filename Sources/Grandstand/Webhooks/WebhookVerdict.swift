package import FoundationEssentials
package import GrandstandContract

/// A receiver's answer to a message.
package enum WebhookAnswer: Sendable, Hashable {
    /// - Parameter retryAfter: seconds that the receiver asks to wait.
    case answered(status: Int, retryAfter: Int? = nil)
    /// The receiver did not answer, or not in time, or its address or scheme is not allowed.
    case unanswered(String)
}

/// The consequence of an answer. Pure: it depends on the answer, the number of tries and the time.
package struct WebhookVerdict: Sendable, Hashable {
    /// `delivered`: the receiver said 2xx. `queued`: the same message is posted again. `failed`: no try is left, or the
    /// receiver wants no further messages.
    package var state = Contract.WebhookDeliveryState.failed
    /// The receiver's status, if there was one.
    package var status: Int?
    /// Why the receiver did not accept the message; `nil` if the receiver accepted it.
    package var reason: String?
    /// When the message is posted again.
    package var retryAt: Date?

    /// Whether the receiver wants no further messages.
    package var isGone: Bool { status == 410 }

    /// Whether the receiver did not answer, or reported an internal problem.
    package var isFailing: Bool { (status ?? 500) >= 500 }

    /// Seconds before the second try, the third and so on: soon at first, then over days, as Standard Webhooks advises.
    /// There is one more try than delays: ten tries within about three days.
    package static let delays: [Double] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]

    /// The longest wait that a receiver can ask for, in seconds. Its wish never shortens a wait.
    private static let longestWait: Double = 86_400

    /// Judges the answer to a try.
    ///
    /// - Parameters:
    ///   - tries: the tries so far, at least 1.
    ///   - jitter: a random number in 0..<1. It makes the delay 0.8 to 1.2 times that of `delays`, so that messages which
    ///     failed together do not come back together.
    package init(_ answer: WebhookAnswer, tries: Int, now: Date, jitter: Double) {
        var wait: Int?
        switch answer {
        case .answered(let code, let retryAfter): (status, wait) = (code, retryAfter)
        case .unanswered(let why): reason = why
        }
        switch status {
        case nil: break
        case (200..<300)?:
            state = .delivered
            return
        case 410:
            reason = "HTTP 410: the receiver wants no more messages"
            return
        case let code?: reason = "HTTP \(code)"
        }
        guard tries <= Self.delays.count else { return }
        state = .queued
        let delay = Self.delays[tries - 1] * (0.8 + 0.4 * jitter)
        retryAt = now.addingTimeInterval(max(delay, min(Double(wait ?? 0), Self.longestWait)))
    }
}
