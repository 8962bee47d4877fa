internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// The rules of a message to one token: its bytes and its limit.
struct PushRuleTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

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
