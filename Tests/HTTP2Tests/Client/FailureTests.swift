import Testing

@testable import HTTP2

struct FailureTests {
    private let goAway = HTTP2GoAway(lastStream: 41, code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
    private let refused = HTTP2ErrorCode.refusedStream.rawValue
    private let cancel = HTTP2ErrorCode.cancel.rawValue

    private func isSafe(_ failure: HTTP2Failure) -> Bool {
        if case .notProcessed = failure { true } else { false }
    }

    @Test func `requests that were never processed may be repeated`() {
        #expect(isSafe(.streamClosed(1, code: cancel, written: false, goAway: nil)))
        #expect(isSafe(.streamClosed(1, code: refused, written: true, goAway: nil)))
        #expect(isSafe(.streamClosed(43, code: refused, written: true, goAway: goAway)))
        #expect(isSafe(.streamClosed(43, code: cancel, written: true, goAway: goAway)))
        #expect(isSafe(.connectionLost("cut", written: false)))
    }

    @Test func `the result of all other requests is unknown`() {
        #expect(!isSafe(.streamClosed(1, code: cancel, written: true, goAway: nil)))
        #expect(!isSafe(.streamClosed(41, code: cancel, written: true, goAway: goAway)))
        #expect(!isSafe(.streamClosed(1, code: 0, written: true, goAway: nil)))
        #expect(!isSafe(.connectionLost("cut", written: true)))
    }

    @Test func `a timeout names its length and whether the request was sent`() {
        #expect(isSafe(.timedOut(after: .seconds(1), started: false, written: false)))
        #expect(isSafe(.timedOut(after: .seconds(1), started: true, written: false)))
        #expect(!isSafe(.timedOut(after: .seconds(1), started: true, written: true)))
    }

    @Test func `the reason contains the peer's text`() {
        let end = HTTP2Failure.streamClosed(43, code: refused, written: true, goAway: goAway)
        #expect(end.description.contains("Shutdown"))
        #expect(end.description.contains("NO_ERROR"))
    }

    @Test func `a long text of a GOAWAY is cut`() {
        let long = HTTP2GoAway(lastStream: 0, code: 11, debugData: [UInt8](repeating: 65, count: 60_000))
        #expect(long.debugData.count == HTTP2GoAway.debugLimit)
        #expect(long.text.count < 1_100)
        #expect(!HTTP2GoAway(lastStream: 0, code: 0, debugData: Array("a\nb\r\nc".utf8)).text.contains { $0.isNewline })
    }
}
