internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct VerdictTests {
    private let now = Date(timeIntervalSince1970: 1_000)

    private func verdict(
        _ answer: APNsAnswer<Void>, attempts: Int = 1, expiresIn seconds: TimeInterval = 3_600
    ) -> Verdict {
        Verdict(answer, attempts: attempts, expiresAt: now.addingTimeInterval(seconds), now: now, jitter: 0.5)
    }

    private func refusal(_ reason: APNsReason, status: Int? = nil, retryAfter: Int? = nil) -> APNsAnswer<Void> {
        .refused(APNsRefusal(status: status ?? reason.status ?? 400, reason: reason, retryAfter: retryAfter))
    }

    @Test func `200 means accepted`() {
        let receipt = APNsReceipt(requestID: "r", uniqueID: "u")
        #expect(verdict(.accepted((), receipt)) == .accepted(receipt))
    }

    @Test(arguments: [
        APNsReason.payloadTooLarge, .topicDisallowed, .broadcastFeatureNotEnabled, .badExpirationDate, .badPriority,
    ])
    func `after a refusal that a repetition cannot change there is no second attempt`(reason: APNsReason) {
        guard case .rejected(let refusal) = verdict(refusal(reason)) else {
            Issue.record("\(reason) was not rejected")
            return
        }
        #expect(refusal.reason == reason)
    }

    @Test(arguments: [(APNsReason.badChannelId, 400), (.channelNotRegistered, 400), (.init(rawValue: "Gone"), 410)])
    func `for a channel that Apple does not know the message is repeated at growing intervals, but not forever`(
        reason: APNsReason, status: Int
    ) {
        let answer = refusal(reason, status: status)
        var waited: [TimeInterval] = []
        for attempt in 1..<Verdict.doubtfulAttempts {
            guard case .channelDoubted(let refusal, let next?) = verdict(answer, attempts: attempt) else {
                Issue.record("\(reason) did not mean the channel")
                return
            }
            #expect(refusal.reason == reason)
            waited.append(next.timeIntervalSince(now))
        }
        #expect(waited == waited.sorted() && (1.0...2.0).contains(waited[0]) && waited.reduce(0, +) < 150)
        for last in [
            verdict(answer, attempts: Verdict.doubtfulAttempts), verdict(answer, expiresIn: 0.5),
        ] {
            guard case .channelDoubted(_, nil) = last else {
                Issue.record("\(last)")
                return
            }
        }
    }

    @Test(arguments: [
        APNsReason.tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown, .expiredProviderToken,
    ])
    func `a temporary refusal is repeated`(reason: APNsReason) {
        guard case .retry(let at, reason.rawValue) = verdict(refusal(reason)) else {
            Issue.record("\(reason) was not retried")
            return
        }
        #expect(at > now && at < now.addingTimeInterval(1))
    }

    @Test func `a request without an answer is repeated`() {
        guard case .retry = verdict(.unanswered("no answer")) else {
            Issue.record("not retried")
            return
        }
    }

    @Test func `Retry-After is obeyed`() {
        guard case .throttled(let at, _) = verdict(refusal(.tooManyRequests, retryAfter: 20)) else {
            Issue.record("not retried")
            return
        }
        #expect(at == now.addingTimeInterval(20))
    }

    @Test func `no attempt is made after the deadline`() {
        #expect(verdict(refusal(.shutdown), expiresIn: 0.01) == .expired(reason: "Shutdown"))
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
