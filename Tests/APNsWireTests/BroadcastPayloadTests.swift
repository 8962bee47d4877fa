internal import APNsWire
internal import Testing

struct BroadcastPayloadTests {
    @Test func `content state and alert are inserted byte for byte`() {
        let state = #"{"b":1.50e3,"a":12345678901234567890,"ball":"\u26bd"}"#
        let payload = BroadcastPayload(
            event: .update, contentState: Array(state.utf8), alert: Array(#"{"title" : "Goal"}"#.utf8), staleDate: 9,
            relevanceScore: Array("100.0".utf8))
        #expect(
            String(decoding: payload.body(timestamp: 1_685_952_000), as: UTF8.self)
                == #"{"aps":{"timestamp":1685952000,"event":"update","content-state":\#(state),"#
                + #""alert":{"title" : "Goal"},"stale-date":9,"relevance-score":100.0}}"#)
    }

    @Test func `an end may have no content`() {
        let payload = BroadcastPayload(event: .end, dismissalDate: 1)
        #expect(
            String(decoding: payload.body(timestamp: 2), as: UTF8.self)
                == #"{"aps":{"timestamp":2,"event":"end","dismissal-date":1}}"#)
    }
}
