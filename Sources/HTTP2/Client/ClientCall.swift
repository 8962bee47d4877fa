internal import NIOCore

/// A request on its way from a caller to the event loop.
struct ClientSubmission: Sendable {
    let request: HTTP2Request
    let timeout: Duration
    /// Ticks from the moment of the call, waiting included.
    let deadline: NIODeadline
    let ticket: CallTicket
    let continuation: CheckedContinuation<Result<HTTP2Response, HTTP2Failure>, Never>
}

/// A request from its arrival on the loop until its stream is closed. Confined to the loop.
final class ClientCall {
    let request: HTTP2Request
    let timeout: Duration
    let ticket: CallTicket
    /// `nil` once the caller has its answer.
    private var continuation: CheckedContinuation<Result<HTTP2Response, HTTP2Failure>, Never>?

    /// The stream's id, once there is one.
    var stream: Int32?
    /// Its HEADERS went to the channel: from now on the peer may have processed it.
    var isWritten = false
    /// Body bytes in DATA frames so far.
    var sent = 0
    var answer = HTTP2Response(status: 0, headers: [], body: [])
    var isInTrailers = false
    /// Bytes of the answer's fields as RFC 9113 6.5.2 counts them, trailers included.
    var headerListSize = 0

    init(_ submission: ClientSubmission) {
        request = submission.request
        timeout = submission.timeout
        ticket = submission.ticket
        continuation = submission.continuation
    }

    var isAnswered: Bool { continuation == nil }
    var unsent: Int { request.body.count - sent }
    /// The fields that come now belong to the final answer, or to an informational one before it.
    var awaitsFinalHeaders: Bool { answer.status < 200 }

    /// What a caller is to be told.
    typealias Answer = (
        continuation: CheckedContinuation<Result<HTTP2Response, HTTP2Failure>, Never>,
        result: Result<HTTP2Response, HTTP2Failure>
    )

    /// Settles how the call ends; `nil` for the second time, which changes nothing.
    func finish(_ result: Result<HTTP2Response, HTTP2Failure>) -> Answer? {
        guard let continuation else { return nil }
        self.continuation = nil
        ticket.place = .done
        answer = HTTP2Response(status: answer.status, headers: [], body: [])
        return (continuation, result)
    }
}
