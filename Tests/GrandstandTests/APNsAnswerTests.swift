internal import APNsWire
internal import Foundation
internal import FoundationEssentials
internal import GrandstandContract
internal import Testing

@testable internal import Grandstand

private func refusal<Value>(
    _ reason: APNsReason, _ status: Int? = nil, retryAfter: Int? = nil
) -> APNsAnswer<Value> {
    .refused(APNsRefusal(status: status ?? reason.status ?? 400, reason: reason, retryAfter: retryAfter))
}

struct VerdictTests {
    private let now = Date(timeIntervalSince1970: 1_000)

    private func verdict(
        _ answer: APNsAnswer<Void>, attempts: Int = 1, expiresIn seconds: TimeInterval = 3_600
    ) -> Verdict {
        Verdict(answer, attempts: attempts, expiresAt: now.addingTimeInterval(seconds), now: now, jitter: 0.5)
    }

    /// The name of a verdict's case.
    private static func name(_ verdict: some Any) -> String {
        String("\(verdict)".prefix { $0.isLetter })
    }

    /// The consequences of an answer for a broadcast, and for a push to one of many tokens. After 503 a push was not accepted. After any other 5xx it is unknown whether it was accepted.
    static let verdicts: [(APNsAnswer<Void>, String)] =
        documented.flatMap { reasons, consequences in reasons.map { (refusal(.init(rawValue: $0)), consequences) } } + [
            (.accepted((), APNsReceipt(requestID: "r", uniqueID: "u")), "accepted accepted"),
            (.unanswered("timeout"), "retry unknown"),
            (.unsent("no connection"), "retry retry"),
            (.withheld("no key"), "retry retry"),
            (refusal(APNsReason(rawValue: "Whatever"), 504), "retry unknown"),
            (refusal(APNsReason(rawValue: "Gone"), 410), "channelDoubted rejected"),
            (refusal(.tooManyRequests, retryAfter: 20), "throttled retry"),
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
        let answer: APNsAnswer<Void> = refusal(.init(rawValue: reason))
        var waited: [TimeInterval] = []
        for attempt in 1..<Verdict.maxDoubtAttempts {
            guard case .channelDoubted(let refusal, let next?) = verdict(answer, attempts: attempt) else {
                Issue.record("\(reason) did not mean the channel")
                return
            }
            #expect(refusal.reason.rawValue == reason)
            waited.append(next.timeIntervalSince(now))
        }
        #expect(waited == waited.sorted() && (1.0...2.0).contains(waited[0]) && waited.reduce(0, +) < 150)
        for last in [verdict(answer, attempts: Verdict.maxDoubtAttempts), verdict(answer, expiresIn: 0.5)] {
            guard case .channelDoubted(_, nil) = last else {
                Issue.record("\(last)")
                return
            }
        }
    }

    @Test func `a temporary refusal is repeated within a second, or after its Retry-After, but not past the deadline`()
    {
        guard case .retry(let at, "Shutdown") = verdict(refusal(.shutdown)) else {
            Issue.record("not retried")
            return
        }
        #expect(at > now && at < now.addingTimeInterval(1))
        let later = verdict(refusal(.tooManyRequests, retryAfter: 20))
        #expect(later == .throttled(until: now.addingTimeInterval(20), reason: "TooManyRequests"))
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

struct CircuitTests {
    private let start = Date(timeIntervalSince1970: 1_000)

    private func after(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

    /// A circuit that opened `minimumOutage` after `start`.
    private func opened() -> Circuit {
        var circuit = Circuit()
        for _ in 1..<Circuit.threshold { circuit.record(.failed, now: start, jitter: 1) }
        let changed = circuit.record(.failed, now: after(Circuit.minimumOutage), jitter: 1)
        #expect(changed)
        return circuit
    }

    @Test func `the requests of one broken connection do not open the circuit, but continued failures do`() {
        var circuit = Circuit()
        for _ in 1...200 { circuit.record(.failed, now: after(0.1), jitter: 1) }
        #expect(circuit.isClosed && circuit.retryIn(now: start) == nil)
        #expect(circuit.allowance(70, flying: 30, now: start) == 70)
        circuit.record(.alive, now: after(0.2), jitter: 1)
        for _ in 1...Circuit.threshold { circuit.record(.failed, now: after(0.7), jitter: 1) }
        #expect(circuit.isClosed)
        circuit.record(.failed, now: after(1.2), jitter: 1)
        #expect(!circuit.isClosed)
        // Any answer closes it.
        let changed = circuit.record(.alive, now: after(1.3), jitter: 1)
        #expect(changed && circuit == Circuit())
    }

    @Test
    func `an open circuit admits nothing during its pause, then one request, and no second one before the answer`() {
        var circuit = opened()
        let opening = after(Circuit.minimumOutage)
        #expect(circuit.allowance(100, flying: 5, now: opening) == 0)
        #expect(circuit.retryIn(now: opening) == 0.5)
        #expect(circuit.allowance(100, flying: 5, now: opening.addingTimeInterval(0.5)) == 1)
        #expect(circuit.allowance(100, flying: 6, now: opening.addingTimeInterval(0.5)) == 0)
        // This server did not send the admitted request, so the request says nothing about the host. Another request
        // may be sent.
        circuit.record(.inconclusive, now: opening.addingTimeInterval(0.6), jitter: 1)
        #expect(circuit.allowance(100, flying: 0, now: opening.addingTimeInterval(0.6)) == 1)
    }

    @Test func `failed probes get further apart, up to a maximum, and older requests change nothing`() {
        var circuit = opened()
        var now = after(Circuit.minimumOutage)
        var pauses: [TimeInterval] = []
        for _ in 1...6 {
            circuit.record(.failed, now: now, jitter: 1)
            let pause = circuit.retryIn(now: now) ?? 0
            pauses.append(pause)
            now = now.addingTimeInterval(pause)
            #expect(circuit.allowance(10, flying: 0, now: now) == 1)
            circuit.record(.failed, now: now, jitter: 1)
        }
        #expect(pauses == [0.5, 1, 2, 4, 5, 5])
    }

    @Test(arguments: [
        (APNsAnswer<Void>.accepted((), APNsReceipt(requestID: nil)), Circuit.Outcome.alive),
        (.refused(APNsRefusal(status: 400, reason: .badChannelId)), .alive),
        (.refused(APNsRefusal(status: 429, reason: .tooManyRequests)), .alive),
        (.refused(APNsRefusal(status: 503, reason: .serviceUnavailable)), .failed),
        (.refused(APNsRefusal(status: 502, reason: APNsReason(rawValue: "HTTP502"))), .failed),
        (.unanswered("lost"), .failed), (.unsent("no connection"), .failed), (.withheld("no key"), .inconclusive),
    ])
    func `each answer shows whether the host works`(_ answer: APNsAnswer<Void>, _ outcome: Circuit.Outcome) {
        #expect(Circuit.Outcome(answer) == outcome)
    }
}

struct ChannelOutcomeTests {
    private static let now = Date(timeIntervalSince1970: 1_000)

    /// For each answer: the state if the server itself requested the creation, which it repeats after the pause. For a
    /// caller, who gets the error, the channel is deleted.
    static let creations: [(APNsAnswer<String>, attempts: Int, Channel.State, pause: Double)] = [
        // These failures are temporary, so the creation is repeated.
        (refusal(.serviceUnavailable), 1, .creating, 0.25),
        (refusal(.tooManyRequests, retryAfter: 60), 1, .creating, 60),
        // Each creation finds out by itself whether the capability is on again.
        (refusal(.broadcastFeatureNotEnabled), 1, .failed, 1),
        // Only people can remove the causes of these refusals, so the creation is repeated slowly.
        (refusal(.badRequestParams), 1, .failed, 128), (refusal(.cannotCreateChannelConfig), 1, .failed, 7.5),
        // The request was not sent to Apple. Later attempts have longer delays.
        (.unsent("no key"), 1, .creating, 0.25), (.withheld("no lease"), 5, .creating, 4),
    ]

    @Test func `a failed creation is repeated for the server, and not for a caller`() {
        for (answer, attempts, state, pause) in Self.creations {
            func outcome(retries: Bool) -> ChannelOutcome {
                ChannelOutcome(creation: answer, retries: retries, attempts: attempts, now: Self.now, jitter: 0)
            }
            #expect(outcome(retries: true) == .unsuccessful(state: state, nextAttemptAt: Self.now + pause))
            #expect(outcome(retries: false) == .unsuccessful(state: .deleted, nextAttemptAt: nil), "\(answer)")
        }
    }

    @Test(arguments: [true, false])
    func `without an answer Apple may have created a channel, and only its list can tell`(retries: Bool) {
        let outcome = ChannelOutcome(
            creation: .unanswered("lost"), retries: retries, attempts: 1, now: Self.now, jitter: 0)
        #expect(outcome == .unanswered(settleableAt: Self.now + 2))
    }

    /// For each answer to a deletion, and whether the list that is read after a 404 may have the channel: the pause
    /// before the repetition; `nil`: the channel is deleted.
    static let deletions: [(APNsAnswer<Void>, isListed: Bool, pause: Double?)] = [
        (.accepted((), APNsReceipt(requestID: nil)), true, nil), (refusal(.channelNotRegistered), true, nil),
        (refusal(.badChannelId), true, nil), (refusal(.badPath, 404), false, nil), (refusal(.badPath, 404), true, 128),
        // Only a 404 means that the channel does not exist.
        (refusal(.badPath, 400), false, 128), (refusal(.serviceUnavailable), true, 0.25),
        (refusal(.topicMismatch), true, 128), (.unanswered("lost"), true, 0.25), (.unsent("no key"), true, 0.25),
    ]

    @Test func `a channel that Apple deleted or does not have is deleted, and another deletion is repeated`() {
        for (answer, isListed, pause) in Self.deletions {
            let outcome = ChannelOutcome(
                deletion: answer, isListed: isListed, attempts: 1, now: Self.now, jitter: 0)
            let expected = pause.map { ChannelOutcome.unsuccessful(state: .deleting, nextAttemptAt: Self.now + $0) }
            #expect(outcome == expected ?? .deleted, "\(answer)")
        }
    }
}

struct KeyStandingTests {
    private static let start = Date(timeIntervalSince1970: 1_000)

    private func at(_ seconds: TimeInterval) -> Date { Self.start.addingTimeInterval(seconds) }

    @Test func `one refusal changes nothing, and after the second in a row requests wait`() {
        var standing = KeyStanding()
        _ = standing.noteRefusal(.invalidProviderToken, now: at(1))
        #expect(standing.admit(now: at(1)) == .send && standing.refusal == nil)
        let begins = standing.noteRefusal(.expiredProviderToken, now: at(2))
        let refusal = KeyRefusal(reason: .expiredProviderToken, since: at(1))
        #expect(begins && standing.refusal == refusal)
        #expect(standing.admit(now: at(3)) == .wait(refusal, seconds: 2))
    }

    @Test func `one request is sent every three seconds, whatever its result is`() {
        var standing = KeyStanding()
        // The last ones are late answers to requests that were sent before the key counted as refused.
        for _ in 0..<100 { _ = standing.noteRefusal(.invalidProviderToken, now: at(1)) }
        let turns = stride(from: 1.0, to: 31, by: 0.25).map { standing.admit(now: at($0)) }
        #expect(turns.count { $0 == .send } == 9 && turns[0] != .send)
        // A clock that was set back delays nothing.
        #expect(standing.admit(now: at(-3_600)) == .send)
        let begins = standing.noteRefusal(.invalidProviderToken, now: at(31))
        #expect(!begins)
        #expect(standing.refusal == KeyRefusal(reason: .invalidProviderToken, since: at(1)))
    }

    @Test func `a message that waits for a key is sent with its next probe, however often it was tried`() {
        let refusal = APNsRefusal.heldBack(
            by: KeyRefusal(reason: .invalidProviderToken, since: Self.start), seconds: 2.2)
        #expect(refusal.retryAfter == 3)
        #expect(Circuit.Outcome(APNsAnswer<Void>.refused(refusal)) == .inconclusive)
        #expect(!APNsAnswer<Void>.refused(refusal).mayHaveBeenProcessed)
        for attempts in [1, 2, 1_000] {
            let verdict = Verdict(
                .refused(refusal), attempts: attempts, expiresAt: at(3_600), now: Self.start, jitter: 0.9)
            #expect(verdict == .throttled(until: at(3), reason: "InvalidProviderToken"))
            let push = TokenVerdict(
                .refused(refusal), attempts: attempts, deadline: at(3_600), now: Self.start, jitter: 0.9)
            #expect(push == .retry(at: at(3), reason: "InvalidProviderToken"))
        }
    }
}
