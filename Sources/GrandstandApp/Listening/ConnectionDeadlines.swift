/// How long one connection may take for what it is doing: pure, its times are nanoseconds of whatever clock.
///
/// Time is counted from the beginning of a step, not from the last byte: a client that sends a byte every second is as
/// slow as one that sends none.
struct ConnectionDeadlines: Equatable {
    struct Limits: Equatable {
        /// From the first byte of a request, or from the connection's beginning, to the end of its header.
        var header: Int64
        /// From there to the end of its body.
        var body: Int64
        /// Between two requests.
        var idle: Int64
        /// For the peer to take what waits to be written.
        var write: Int64
        /// For what the peer has to do yet when the server stops.
        var leave: Int64
    }

    private enum Phase: Equatable {
        /// Waiting for a request's first byte.
        case idle
        case header
        case body
        /// The request is read, the answer is not finished.
        case answering
    }

    private let limits: Limits
    private var phase = Phase.header
    private var since: Int64
    private var stalledSince: Int64?
    private var stoppingSince: Int64?

    /// A connection that says nothing at first is as slow as one that stops in the middle.
    init(_ limits: Limits, at now: Int64) {
        self.limits = limits
        since = now
    }

    mutating func receivedBytes(at now: Int64) { if phase == .idle { enter(.header, now) } }

    mutating func receivedHeader(at now: Int64) { enter(.body, now) }

    mutating func receivedEnd(at now: Int64) { if phase == .body { enter(.answering, now) } }

    /// An answer may be finished before its request is: the rest of that is read still, in the time it has.
    mutating func answered(at now: Int64) { if phase == .answering { enter(.idle, now) } }

    mutating func writability(_ isWritable: Bool, at now: Int64) {
        stalledSince = isWritable ? nil : stalledSince ?? now
    }

    /// The server stops. What it does itself has the whole drain; it does not wait as long for its peers.
    mutating func stop(at now: Int64) { stoppingSince = stoppingSince ?? now }

    /// When the connection has to be dropped unless something happens; `nil`: it is our turn.
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
