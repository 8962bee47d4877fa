internal import NIOCore

/// A request, from the call to the closed stream.
///
/// Sendable by convention: the caller makes it, sets `continuation` and hands it over; from then on only the
/// connection's event loop touches it. (As a value in a lock, with a checked continuation, every request paid for three
/// more allocations.)
final class ClientCall: @unchecked Sendable {
    typealias Outcome = Result<HTTP2Response, HTTP2Failure>
    /// A caller's continuation and the outcome to resume it with.
    typealias Answer = (continuation: UnsafeContinuation<Outcome, Never>, outcome: Outcome)

    /// How far the call is.
    enum Phase: Equatable {
        /// Not seen by the loop yet.
        case submitted
        /// Cancelled before it was seen.
        case withdrawn
        /// In line or on the wire.
        case held(slot: Int)
        /// Answered, one way or the other.
        case done
    }

    let request: HTTP2Request
    let timeout: Duration
    /// Ticks from the moment of the call, waiting included.
    let deadline: NIODeadline
    /// The caller runs on the connection's loop.
    var isFromLoop = false
    /// `nil` once the caller has its answer: that is what keeps it to one.
    var continuation: UnsafeContinuation<Outcome, Never>?
    var phase = Phase.submitted

    /// The stream's id, once there is one.
    var stream: Int32?
    /// When it got one; kept only where timings are measured.
    var startedAt: NIODeadline?
    /// Its HEADERS went to the channel: from now on the peer may have processed it.
    var isWritten = false
    /// Body bytes in DATA frames so far.
    var sent = 0
    /// The answer so far.
    var status = 0
    var fields = FieldBlock()
    var body: [UInt8] = []
    var isInTrailers = false
    /// Bytes of the answer's fields as RFC 9113 6.5.2 counts them, trailers included.
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
    /// The fields that come now belong to the final answer, or to an informational one before it.
    var awaitsFinalHeaders: Bool { status < 200 }

    /// Settles how the call ends; `nil` for the second time, which changes nothing.
    func finish(_ outcome: Outcome) -> Answer? {
        guard let continuation else { return nil }
        self.continuation = nil
        phase = .done
        fields = FieldBlock()
        body = []
        return (continuation, outcome)
    }
}
