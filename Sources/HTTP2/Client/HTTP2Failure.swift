/// Why a request got no response.
///
/// A request that was not processed may be repeated at once on another connection. For an unanswered one, only the
/// caller knows whether a repetition is safe.
package enum HTTP2Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The peer never processed it: not written, refused (REFUSED_STREAM), or above GOAWAY's last stream id
    /// (RFC 9113 6.8 and 8.7).
    case notProcessed(String)
    /// The peer may have processed it: the deadline passed, or the stream or the connection ended after it was written.
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
