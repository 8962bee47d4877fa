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
        case live
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
    var openedAt: NIODeadline
    /// Whether the request's HEADERS were passed to the channel. From then on, the peer may have processed the request.
    var headersWritten = false
    /// The body bytes sent in DATA frames so far.
    var sentBytes = 0
    /// The answer so far.
    private(set) var response = HTTP2Response(status: 0, headers: [], body: [])
    private var isInTrailers = false
    /// The size of the answer's fields by RFC 9113 6.5.2, including trailers.
    private var headerListSize = 0

    init(_ request: HTTP2Request, timeout: Duration, now: NIODeadline) {
        self.request = request
        self.timeout = timeout
        calledAt = now
        openedAt = now
    }

    var deadline: NIODeadline { calledAt + TimeAmount(timeout) }
    var unsentBytes: Int { request.body.count - sentBytes }

    /// Copies the next bytes of the request's body.
    func copyBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, unsentBytes)
        buffer.copyBytes(from: request.body[sentBytes..<sentBytes + count])
        sentBytes += count
        return count
    }

    /// A header block of the answer begins.
    func headersBegan() {
        // Before the final status, the next block replaces an informational answer. Later ones are trailers.
        if response.status >= 200 { isInTrailers = true } else { dropAnswer() }
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
    func dropAnswer() { response = HTTP2Response(status: 0, headers: [], body: []) }
}

/// Decides how many streams may be open, and whether one more may start.
struct StreamBudget {
    /// Our own limit, which also applies if the peer sets none.
    let cap: Int
    /// The most streams until the peer has accepted a request's credentials (1 for APNs; docs/internals/apns.md 6).
    let initial: Int
    /// The peer's present SETTINGS_MAX_CONCURRENT_STREAMS; 0 before its first SETTINGS.
    var peerLimit = 0
    var isProven = false
    /// The submitted body bytes that are not yet in a DATA frame.
    var unsentBytes = 0

    /// The most streams now. It may be below the number in use after the peer lowered its limit.
    var limit: Int { max(0, min(peerLimit, cap, isProven ? cap : initial)) }

    /// Whether a request with this many body bytes may start now.
    ///
    /// A request waits until a stream is free and the connection's send window (`window`) has room for its body and for
    /// the unsent bodies of the requests that have started. A request that has started but cannot send would block
    /// others and could not be repeated safely. A body larger than any window is sent when no other body is being sent.
    ///
    /// - Parameter inUse: the streams that the peer counts: from the submission of the request until nghttp2 reports
    ///   the stream as closed.
    func admits(body: Int, inUse: Int, window: Int) -> Bool {
        guard inUse < limit else { return false }
        guard body > 0 else { return true }
        return window > 0 && (unsentBytes == 0 || unsentBytes + body <= window)
    }
}

/// When to send a PING, which asks whether the peer still answers, and when to end the connection.
///
/// Everything the peer sends shows that it is alive. Only silence causes a PING, and only silence after the PING ends
/// the connection.
struct Heartbeat {
    enum Action: Equatable {
        /// Nothing to do before `next`.
        case wait
        /// Send a PING now.
        case ping
        /// The peer was silent for the whole `timeout` after the last PING.
        case dead
    }

    /// The silence before a PING while no answer is awaited.
    let idle: TimeAmount
    /// The silence before a PING while answers are awaited.
    let busy: TimeAmount
    let timeout: TimeAmount

    private(set) var lastRead: NIODeadline
    /// Since when at least one answer has been awaited without a break; `nil`: no answer is awaited.
    private var busySince: NIODeadline?
    private var pingSentAt: NIODeadline?

    init(idle: TimeAmount, busy: TimeAmount, timeout: TimeAmount, now: NIODeadline) {
        self.idle = idle
        self.busy = busy
        self.timeout = timeout
        lastRead = now
    }

    mutating func noteRead(now: NIODeadline) {
        lastRead = now
        pingSentAt = nil
    }

    /// Sets whether answers are awaited now.
    mutating func setAwaiting(_ answers: Bool, now: NIODeadline) {
        if !answers { busySince = nil } else if busySince == nil { busySince = now }
    }

    /// The latest time to call `check`.
    var next: NIODeadline {
        if let pingSentAt { return pingSentAt + timeout }
        guard let busySince else { return lastRead + idle }
        return max(lastRead, busySince) + busy
    }

    mutating func check(now: NIODeadline) -> Action {
        guard now >= next else { return .wait }
        if pingSentAt != nil { return .dead }
        pingSentAt = now
        return .ping
    }
}
