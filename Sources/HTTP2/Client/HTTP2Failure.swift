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
