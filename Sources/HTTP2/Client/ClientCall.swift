internal import NIOCore

/// A request, from the call to the closed stream.
///
/// Sendable by convention: the caller creates it, sets `continuation` and hands it over. After that, only the
/// connection's event loop uses it.
final class ClientCall: @unchecked Sendable {
    typealias Outcome = Result<HTTP2Response, HTTP2Failure>

    enum Phase {
        /// The loop has not taken the call yet.
        case submitted
        /// The call was cancelled before the loop took it.
        case withdrawn
        /// The request is waiting for a stream, or is in flight.
        case held
        /// The caller has the outcome.
        case done
    }

    let request: HTTP2Request
    let timeout: Duration
    /// The timeout counts from here, including the wait for a stream.
    let calledAt: NIODeadline
    var continuation: CheckedContinuation<Outcome, Never>?
    var phase = Phase.submitted

    /// The stream's ID; `nil` until there is a stream.
    var stream: Int32?
    /// When the request got its stream.
    var startedAt: NIODeadline
    /// Whether the request's HEADERS were passed to the channel. From then on, the peer may have processed the request.
    var isWritten = false
    /// The body bytes sent in DATA frames so far.
    var sent = 0
    /// The answer so far.
    private(set) var response = HTTP2Response(status: 0, headers: [], body: [])
    private var isInTrailers = false
    /// The size of the answer's fields by RFC 9113 6.5.2, including trailers.
    private var headerListSize = 0

    init(_ request: HTTP2Request, timeout: Duration, now: NIODeadline) {
        self.request = request
        self.timeout = timeout
        calledAt = now
        startedAt = now
    }

    var deadline: NIODeadline { calledAt + TimeAmount(timeout) }
    var unsent: Int { request.body.count - sent }

    /// Copies the next bytes of the request's body.
    func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, unsent)
        buffer.copyBytes(from: request.body[sent..<sent + count])
        sent += count
        return count
    }

    /// A header block of the answer begins.
    func headersBegan() {
        // Before the final status, the next block replaces an informational answer. Later ones are trailers.
        if response.status >= 200 { isInTrailers = true } else { forget() }
    }

    /// Takes a field of the answer. Returns `false` if the fields are larger than `limit`.
    func take(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, limit: Int) -> Bool {
        headerListSize += name.count + value.count + 32
        guard headerListSize <= limit else { return false }
        if name.first == UInt8(ascii: ":") {
            // nghttp2 accepts `:status` only once per block, and only with three digits.
            response.status = value.reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
        } else if !isInTrailers {
            response.headers.append(
                HTTP2Header(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        return true
    }

    func take(body: UnsafeBufferPointer<UInt8>) { response.body.append(contentsOf: body) }

    /// Drops what came of the answer so far.
    func forget() { response = HTTP2Response(status: 0, headers: [], body: []) }
}
