extension Duration {
    /// The duration as text, rounded to a tenth of a second, or to a millisecond if it is below one second.
    var words: String {
        let milliseconds = Int((self / .milliseconds(1)).rounded())
        guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
        let tenths = (milliseconds + 50) / 100
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}

/// Decides whether a stream without a complete answer was certainly not processed, or whether that is unknown.
enum StreamEnd {
    /// The stream was closed by a RST_STREAM of either side or by GOAWAY, and the connection continues.
    ///
    /// - Parameters:
    ///   - code: the HTTP/2 error code.
    ///   - written: whether the request's HEADERS were sent.
    ///   - goAway: the peer's GOAWAY, if the peer sent one.
    static func closed(code: UInt32, stream: Int, written: Bool, goAway: GoAway?) -> HTTP2Failure {
        guard written else { return .notProcessed("not written") }
        if let goAway, stream > goAway.lastStream {
            return .notProcessed("above the last stream of \(goAway.text)")
        }
        if code == HTTP2ErrorCode.refusedStream.rawValue { return .notProcessed("refused by the peer") }
        return .unanswered("the stream was reset with \(HTTP2ErrorCode.name(code))")
    }

    /// The connection has ended.
    static func connectionLost(_ reason: String, written: Bool) -> HTTP2Failure {
        written ? .unanswered(reason) : .notProcessed("not written: \(reason)")
    }

    /// The request's deadline has passed.
    static func timedOut(after timeout: Duration, started: Bool, written: Bool) -> HTTP2Failure {
        let timeout = timeout.words
        if !started { return .notProcessed("no free stream within \(timeout)") }
        return written ? .unanswered("no answer within \(timeout)") : .notProcessed("not written within \(timeout)")
    }
}
