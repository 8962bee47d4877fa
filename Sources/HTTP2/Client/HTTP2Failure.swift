/// Why a request got no response.
///
/// A request that was never processed may be sent again at once on another connection; about one that is unanswered
/// only the caller knows whether repeating it is harmless.
package enum HTTP2Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The peer never processed it: not written, refused (REFUSED_STREAM), or above GOAWAY's last stream id
    /// (RFC 9113 6.8 and 8.7).
    case notProcessed(String)
    /// The peer may have processed it: its time ran out, or the stream or the connection ended after it was written.
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
