/// How long one connection may take for each step. It is a pure value; times are nanoseconds of any clock.
///
/// Time counts from the beginning of a step and not from the last byte. A client that sends one byte a second is as
/// slow as one that sends none.
struct ConnectionDeadlines: Equatable {
    struct Limits: Equatable {
        /// From the first byte of a request, or the beginning of the connection, to the end of the header.
        var header: Int64
        /// From the end of the header to the end of the body.
        var body: Int64
        /// Between two requests.
        var idle: Int64
        /// For the peer to read bytes that wait to be written.
        var write: Int64
        /// For the peer's remaining steps after the server has begun to stop.
        var leave: Int64
    }

    private enum Phase: Equatable {
        /// Waiting for a request's first byte.
        case idle
        case header
        case body
        /// The request is read, and the answer is not complete yet.
        case answering
    }

    private let limits: Limits
    private var phase = Phase.header
    private var since: Int64
    private var stalledSince: Int64?
    private var stoppingSince: Int64?

    /// A new connection must begin with its request at once; otherwise it counts as slow.
    init(_ limits: Limits, at now: Int64) {
        self.limits = limits
        since = now
    }

    mutating func receivedBytes(at now: Int64) { if phase == .idle { enter(.header, now) } }

    mutating func receivedHeader(at now: Int64) { enter(.body, now) }

    mutating func receivedEnd(at now: Int64) { if phase == .body { enter(.answering, now) } }

    /// An answer may be complete before its request. The rest of the request is still read, within its time.
    mutating func answered(at now: Int64) { if phase == .answering { enter(.idle, now) } }

    mutating func writability(_ isWritable: Bool, at now: Int64) {
        stalledSince = isWritable ? nil : stalledSince ?? now
    }

    /// The server begins to stop. Its own work has the whole drain; a peer has less time.
    mutating func stop(at now: Int64) { stoppingSince = stoppingSince ?? now }

    /// When the connection has to be closed if nothing happens; `nil`: the server has to act next.
    var deadline: Int64? {
        let step: Int64? =
            switch phase {
            case .idle: since + limits.idle
            case .header: since + limits.header
            case .body: since + limits.body
            case .answering: nil
            }
        let patience = [step, stalledSince.map { $0 + limits.write }].compactMap(\.self).min()
        guard let patience, let stoppingSince else { return patience }
        return min(patience, max(stoppingSince, stalledSince ?? stoppingSince) + limits.leave)
    }

    private mutating func enter(_ phase: Phase, _ now: Int64) {
        self.phase = phase
        since = now
    }
}
