import Testing

@testable import HTTP2

struct FailureTests {
    private let goAway = HTTP2GoAway(lastStream: 41, code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
    private let refused = HTTP2ErrorCode.refusedStream.rawValue
    private let cancel = HTTP2ErrorCode.cancel.rawValue

    @Test func `requests that were never processed may be repeated, and the result of all others is unknown`() {
        let failures: [(HTTP2Failure, isSafe: Bool)] = [
            (.streamClosed(1, code: cancel, written: false, goAway: nil), true),
            (.streamClosed(1, code: refused, written: true, goAway: nil), true),
            (.streamClosed(43, code: refused, written: true, goAway: goAway), true),
            (.streamClosed(43, code: cancel, written: true, goAway: goAway), true),
            (.connectionLost("cut", written: false), true),
            (.timedOut(after: .seconds(1), started: false, written: false), true),
            (.timedOut(after: .seconds(1), started: true, written: false), true),
            (.streamClosed(1, code: cancel, written: true, goAway: nil), false),
            (.streamClosed(41, code: cancel, written: true, goAway: goAway), false),
            (.streamClosed(1, code: 0, written: true, goAway: nil), false),
            (.connectionLost("cut", written: true), false),
            (.timedOut(after: .seconds(1), started: true, written: true), false),
        ]
        for (failure, isSafe) in failures {
            let isNotProcessed = if case .notProcessed = failure { true } else { false }
            #expect(isNotProcessed == isSafe, "\(failure)")
        }
    }

    @Test func `the reason contains the peer's text, and a long text of a GOAWAY is cut`() {
        let end = HTTP2Failure.streamClosed(43, code: refused, written: true, goAway: goAway)
        #expect(end.description.contains("Shutdown") && end.description.contains("NO_ERROR"))
        let long = HTTP2GoAway(lastStream: 0, code: 11, debugData: [UInt8](repeating: 65, count: 60_000))
        #expect(long.debugData.count == HTTP2GoAway.debugLimit && long.text.count < 1_100)
        #expect(!HTTP2GoAway(lastStream: 0, code: 0, debugData: Array("a\nb\r\nc".utf8)).text.contains { $0.isNewline })
    }
}
