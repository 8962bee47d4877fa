extension Duration {
    /// In words, rounded to a tenth of a second, to a millisecond below one second.
    var words: String {
        let milliseconds = Int((self / .milliseconds(1)).rounded())
        guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
        let tenths = (milliseconds + 50) / 100
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}

/// How a stream that ended without a complete answer is judged: certainly not processed, or unknown.
enum StreamEnd {
    /// The stream was closed on a connection that lives on, by a RST_STREAM of either side or by GOAWAY.
    ///
    /// - Parameters:
    ///   - code: the HTTP/2 error code it was closed with.
    ///   - written: its HEADERS went out.
    ///   - goAway: what the peer said on leaving, if it is leaving.
    static func closed(code: UInt32, stream: Int, written: Bool, goAway: GoAway?) -> HTTP2Failure {
        guard written else { return .notProcessed("not written") }
        if let goAway, stream > goAway.lastStream {
            return .notProcessed("above the last stream of \(goAway.text)")
        }
        if code == HTTP2ErrorCode.refusedStream.rawValue { return .notProcessed("refused by the peer") }
        return .unanswered("the stream was reset with \(HTTP2ErrorCode.name(code))")
    }

    /// The connection is gone.
    static func connectionLost(_ reason: String, written: Bool) -> HTTP2Failure {
        written ? .unanswered(reason) : .notProcessed("not written: \(reason)")
    }

    /// The request's own time is up.
    static func timedOut(after timeout: Duration, started: Bool, written: Bool) -> HTTP2Failure {
        let timeout = timeout.words
        if !started { return .notProcessed("no free stream within \(timeout)") }
        return written ? .unanswered("no answer within \(timeout)") : .notProcessed("not written within \(timeout)")
    }
}
