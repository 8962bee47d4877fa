internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// The rules of a message to one token: its bytes, its limit, and the meaning of APNs' answers.
struct PushRuleTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private static func verdict(_ answer: APNsAnswer<Void>, of subject: Verdict.Subject) -> Verdict {
        Verdict(answer, of: subject, attempts: 1, expiresAt: now.addingTimeInterval(600), now: now, jitter: 0.5)
    }

    @Test(arguments: [
        (410, APNsReason.unregistered), (410, .expiredToken), (400, .badDeviceToken), (400, .deviceTokenNotForTopic),
    ])
    func `an invalid token rejects the message finally and does not affect a channel`(
        status: Int, reason: APNsReason
    ) {
        let refusal = APNsRefusal(status: status, reason: reason)
        for subject in [Verdict.Subject.push, .start] {
            #expect(Self.verdict(.refused(refusal), of: subject) == .rejected(refusal))
        }
    }

    @Test func `without an answer an update is repeated and a start is not, and what was not sent is repeated`() {
        #expect(Self.verdict(.unanswered("timeout"), of: .start) == .unknown(reason: "timeout"))
        let others: [(APNsAnswer<Void>, Verdict.Subject)] = [
            (.unanswered("timeout"), .push), (.unsent("no connection"), .start), (.withheld("no key"), .start),
            (.refused(APNsRefusal(status: 503, reason: .serviceUnavailable)), .start),
        ]
        for (answer, subject) in others {
            guard case .retry = Self.verdict(answer, of: subject) else {
                Issue.record("\(answer) of \(subject)")
                continue
            }
        }
    }

    @Test func `a start has its own members and the caller's bytes`() {
        var payload = BroadcastPayload(
            event: .start, contentState: Array(#"{"n": 1.0}"#.utf8), alert: Array(#"{"title":"t"}"#.utf8),
            start: .init(attributesType: Array(#""M""#.utf8), attributes: Array(#"{ "a":1}"#.utf8), input: .token))
        let head =
            #"{"aps":{"timestamp":7,"event":"start","attributes-type":"M","attributes":{ "a":1},"#
            + #""content-state":{"n": 1.0},"alert":{"title":"t"}"#
        #expect(text(payload) == head + #","input-push-token":1}}"#)
        payload.start?.input = .channel(Array(#""abc==""#.utf8))
        #expect(text(payload) == head + #","input-push-channel":"abc=="}}"#)
        payload.start?.input = nil
        #expect(text(payload) == head + "}}")
    }

    private func text(_ payload: BroadcastPayload) -> String {
        String(decoding: payload.body(timestamp: 7), as: UTF8.self)
    }

    @Test func `4,096 bytes are accepted, and one more is refused with the limit`() throws {
        let audience = Audience(
            bundleID: try #require(BundleID(rawValue: "com.example.Goal")), environment: .production,
            storagePolicy: .mostRecentMessageStored)
        func plan(_ size: Int) throws(Problem) {
            let around = BroadcastPayload(event: .update, contentState: []).body(timestamp: 1_700_000_000).count
            let state = #"{"a":""# + String(repeating: "x", count: size - around - 8) + #""}"#
            let request = BroadcastRequest(
                payload: BroadcastPayload(event: .update, contentState: Array(state.utf8)),
                bodyLimit: APNsLimits.devicePayload)
            _ = try DeliveryPlan(request, audiences: [audience], now: Self.now)
        }
        try plan(4_096)
        for size in [4_097, 6_000] {
            let problem = #expect(throws: Problem.self) { try plan(size) }
            #expect(problem?.kind == .payloadTooLarge)
            #expect(problem?.detail.contains("Apple takes 4096") == true)
        }
    }
}
