/// Why a request got no response.
///
/// A request that was not processed may be repeated at once on another connection. For an unanswered request, only the
/// caller knows whether a repetition is safe.
package enum HTTP2Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The peer never processed the request: the request was not written, was refused (REFUSED_STREAM), or was above
    /// GOAWAY's last stream id (RFC 9113 6.8 and 8.7).
    case notProcessed(String)
    /// The peer may have processed the request: the deadline passed, or the stream or the connection ended, after the
    /// request was written.
    case unanswered(String)
    /// The calling task was cancelled. The peer may have processed the request.
    case cancelled

    /// Kind and reason in one line, for logs.
    package var description: String {
        switch self {
        case .notProcessed(let reason): "not processed: \(reason)"
        case .unanswered(let reason): "unanswered: \(reason)"
        case .cancelled: "cancelled"
        }
    }
}

extension HTTP2Failure {
    /// The stream was closed by a RST_STREAM of either side or by GOAWAY, and the connection continues.
    ///
    /// - Parameters:
    ///   - code: the HTTP/2 error code.
    ///   - written: whether the request's HEADERS were sent.
    ///   - goAway: the peer's GOAWAY, if the peer sent one.
    static func streamClosed(_ stream: Int32, code: UInt32, written: Bool, goAway: HTTP2GoAway?) -> HTTP2Failure {
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

extension Duration {
    /// The duration as text, rounded to a tenth of a second, or to a millisecond if it is below one second.
    var words: String {
        let milliseconds = Int((self / .milliseconds(1)).rounded())
        guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
        let tenths = (milliseconds + 50) / 100
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}
