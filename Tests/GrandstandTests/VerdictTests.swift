internal import APNsWire
internal import FoundationEssentials
internal import Testing

@testable internal import Grandstand

struct VerdictTests {
    private let now = Date(timeIntervalSince1970: 1_000)

    private func verdict(
        _ answer: APNsAnswer<Void>, attempts: Int = 1, expiresIn seconds: TimeInterval = 3_600
    ) -> Verdict {
        Verdict(answer, attempts: attempts, expiresAt: now.addingTimeInterval(seconds), now: now, jitter: 0.5)
    }

    private static func refusal(_ reason: String, _ status: Int? = nil, retryAfter: Int? = nil) -> APNsAnswer<Void> {
        let reason = APNsReason(rawValue: reason)
        return .refused(APNsRefusal(status: status ?? reason.status ?? 400, reason: reason, retryAfter: retryAfter))
    }

    /// The name of a verdict's case.
    private static func name(_ verdict: some Any) -> String {
        String("\(verdict)".prefix { $0.isLetter })
    }

    /// The consequences of an answer for a broadcast, and for a push to one of many tokens. After 503 a push was not accepted. After any other 5xx it is unknown whether it was accepted.
    static let verdicts: [(APNsAnswer<Void>, String)] =
        documented.flatMap { reasons, consequences in reasons.map { (refusal($0), consequences) } } + [
            (.accepted((), APNsReceipt(requestID: "r", uniqueID: "u")), "accepted accepted"),
            (.unanswered("timeout"), "retry unknown"),
            (.unsent("no connection"), "retry retry"),
            (.withheld("no key"), "retry retry"),
            (refusal("Whatever", 504), "retry unknown"),
            (refusal("Gone", 410), "channelDoubted rejected"),
            (refusal("TooManyRequests", retryAfter: 20), "throttled retry"),
        ]

    private static let documented: [([String], String)] = [
        (
            ["PayloadTooLarge", "TopicDisallowed", "FeatureNotEnabled", "BadExpirationDate", "BadPriority"],
            "rejected rejected"
        ),
        (["BadChannelId", "ChannelNotRegistered"], "channelDoubted rejected"),
        (["Unregistered", "ExpiredToken"], "channelDoubted gone"),
        (["BadDeviceToken", "DeviceTokenNotForTopic"], "rejected suspect"),
        (["TooManyRequests", "ServiceUnavailable", "Shutdown", "ExpiredProviderToken"], "retry retry"),
        (["InternalServerError"], "retry unknown"),
    ]

    @Test(arguments: verdicts)
    func `each answer has its consequence for each kind of message`(
        _ answer: APNsAnswer<Void>, _ consequences: String
    ) {
        let push = TokenVerdict(answer, attempts: 1, deadline: now.addingTimeInterval(60), now: now, jitter: 0.5)
        #expect("\(Self.name(verdict(answer))) \(Self.name(push))" == consequences)
    }

    @Test(arguments: ["BadChannelId", "ChannelNotRegistered"])
    func `for a channel that Apple does not know the message is repeated at growing intervals, but not forever`(
        reason: String
    ) {
        let answer = Self.refusal(reason)
        var waited: [TimeInterval] = []
        for attempt in 1..<Verdict.doubtfulAttempts {
            guard case .channelDoubted(let refusal, let next?) = verdict(answer, attempts: attempt) else {
                Issue.record("\(reason) did not mean the channel")
                return
            }
            #expect(refusal.reason.rawValue == reason)
            waited.append(next.timeIntervalSince(now))
        }
        #expect(waited == waited.sorted() && (1.0...2.0).contains(waited[0]) && waited.reduce(0, +) < 150)
        for last in [verdict(answer, attempts: Verdict.doubtfulAttempts), verdict(answer, expiresIn: 0.5)] {
            guard case .channelDoubted(_, nil) = last else {
                Issue.record("\(last)")
                return
            }
        }
    }

    @Test func `a temporary refusal is repeated within a second, or after its Retry-After, but not past the deadline`()
    {
        guard case .retry(let at, "Shutdown") = verdict(Self.refusal("Shutdown")) else {
            Issue.record("not retried")
            return
        }
        #expect(at > now && at < now.addingTimeInterval(1))
        let later = verdict(Self.refusal("TooManyRequests", retryAfter: 20))
        #expect(later == .throttled(until: now.addingTimeInterval(20), reason: "TooManyRequests"))
        #expect(verdict(Self.refusal("Shutdown"), expiresIn: 0.01) == .expired(reason: "Shutdown"))
    }
}

struct RetryPolicyTests {
    @Test func `delays double up to a maximum, each between half and all of its step`() {
        let policy = RetryPolicy(base: 1, ceiling: 10)
        let now = Date(timeIntervalSince1970: 0)
        for (attempts, step) in [(1, 1.0), (2, 2), (3, 4), (4, 8), (5, 10), (1_000, 10)] {
            #expect(policy.nextAttempt(after: attempts, now: now, jitter: 0).timeIntervalSince1970 == step / 2)
            let most = policy.nextAttempt(after: attempts, now: now, jitter: 0.999_999).timeIntervalSince1970
            #expect(most <= step && most > step * 0.99)
        }
    }
}
