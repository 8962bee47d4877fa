internal import NIOCore

/// A request, from the call to the closed stream.
///
/// Sendable by convention: the caller creates it, sets `continuation` and hands it over. After that, only the
/// connection's event loop uses it. A value in a lock with a checked continuation would cost three more allocations for
/// each request.
final class ClientCall: @unchecked Sendable {
    typealias Outcome = Result<HTTP2Response, HTTP2Failure>
    /// A caller's continuation and the outcome to resume it with.
    typealias Answer = (continuation: UnsafeContinuation<Outcome, Never>, outcome: Outcome)

    enum Phase: Equatable {
        /// The loop has not taken the command yet.
        case submitted
        /// The request was cancelled before the loop took the command.
        case withdrawn
        /// The request is waiting for a stream, or is in flight.
        case held(slot: Int)
        /// The caller has the outcome.
        case done
    }

    let request: HTTP2Request
    let timeout: Duration
    /// When the timeout ends. The timeout counts from the call, including the wait for a stream.
    let deadline: NIODeadline
    /// Whether the caller runs on the connection's loop.
    var isFromLoop = false
    /// `nil` once the caller has its answer, so that the caller gets only one answer.
    var continuation: UnsafeContinuation<Outcome, Never>?
    var phase = Phase.submitted

    /// The stream's ID; `nil` until there is a stream.
    var stream: Int32?
    /// When the request got a stream. This is set only if timings are measured.
    var startedAt: NIODeadline?
    /// Whether the request's HEADERS were passed to the channel. From then on, the peer may have processed the request.
    var isWritten = false
    /// The body bytes sent in DATA frames so far.
    var sent = 0
    /// The answer so far.
    var status = 0
    var fields = FieldBlock()
    var body: [UInt8] = []
    var isInTrailers = false
    /// The size of the answer's fields by RFC 9113 6.5.2, including trailers.
    var headerListSize = 0

    init(_ request: HTTP2Request, timeout: Duration) {
        self.request = request
        self.timeout = timeout
        deadline = .now() + TimeAmount(timeout)
    }

    func timing(startedAt: NIODeadline, now: NIODeadline) -> HTTP2RequestTiming {
        let queued = startedAt - (deadline - TimeAmount(timeout))
        return HTTP2RequestTiming(
            queued: .nanoseconds(queued.nanoseconds), roundTrip: .nanoseconds((now - startedAt).nanoseconds))
    }

    var isAnswered: Bool { continuation == nil }
    var unsent: Int { request.body.count - sent }
    /// Whether the final status has not come yet, so that the next HEADERS are not trailers.
    var awaitsFinalHeaders: Bool { status < 200 }

    /// Sets the outcome. If the call already has an outcome, changes nothing and returns `nil`.
    func finish(_ outcome: Outcome) -> Answer? {
        guard let continuation else { return nil }
        self.continuation = nil
        phase = .done
        fields = FieldBlock()
        body = []
        return (continuation, outcome)
    }
}
