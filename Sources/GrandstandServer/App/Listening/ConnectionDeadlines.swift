/// How long one connection may take for each step. It is a pure value; times are nanoseconds of any clock.
///
/// Time counts from the beginning of a step and not from the last byte. A client that sends one byte a second is as
/// slow as one that sends none.
///
/// A header may take `header`, counted from the first byte of a request or the beginning of the connection. A body, and
/// bytes that wait for the peer to read, may take three times as long, and a pause between two requests six times. When
/// the server stops, the peer has at most a second for its remaining steps.
struct ConnectionDeadlines: Equatable {
    enum Step: Sendable {
        /// The peer sent bytes that completed no part of a request, a whole header, or the end of a request.
        case bytes, header, end
        /// So many answers are complete. If a request has not been read to its end, the rest is still read, within its
        /// time limit. `finished`: the server has closed its side. It waits for the peer to close too, for at most the
        /// time limit between two requests. `writable`: whether the peer reads what the server sends. `stop`: the server
        /// begins to stop. Its own work has the whole drain; a peer has less time.
        case answered(Int = 1), finished, writable(Bool), stop
    }

    private enum Phase: Equatable {
        /// Waiting for a request's first byte.
        case idle
        case header
        case body
    }

    private let header: Int64
    private var phase = Phase.header
    private var since: Int64
    /// Requests whose answers are not complete yet. An answer may be complete before its request is read.
    private var unanswered = 0
    /// The server answers nothing more on this connection.
    private var isFinished = false
    private var stalledSince: Int64?
    private var stoppingSince: Int64?

    /// A new connection must begin with its request at once; otherwise it counts as slow.
    init(header: Int64, at now: Int64) {
        self.header = header
        since = now
    }

    mutating func note(_ step: Step, at now: Int64) {
        switch step {
        case .bytes: if phase == .idle, unanswered == 0, !isFinished { enter(.header, now) }
        case .header where !isFinished:
            unanswered += 1
            enter(.body, now)
        case .end: if phase == .body { enter(.idle, now) }
        case .answered(let count):
            unanswered = max(0, unanswered - count)
            if phase == .idle, unanswered == 0 { enter(.idle, now) }
        case .finished where !isFinished:
            isFinished = true
            unanswered = 0
            enter(.idle, now)
        case .header, .finished: break
        case .writable(let isWritable): stalledSince = isWritable ? nil : stalledSince ?? now
        case .stop: stoppingSince = stoppingSince ?? now
        }
    }

    /// When the connection has to be closed if nothing happens; `nil`: the server has to act next.
    var deadline: Int64? {
        let step: Int64? =
            switch phase {
            case .idle: unanswered == 0 ? since + 6 * header : nil
            case .header: since + header
            case .body: since + 3 * header
            }
        let patience = [step, stalledSince.map { $0 + 3 * header }].compactMap(\.self).min()
        guard let patience, let stoppingSince else { return patience }
        return min(patience, max(stoppingSince, stalledSince ?? stoppingSince) + min(header, 1_000_000_000))
    }

    private mutating func enter(_ phase: Phase, _ now: Int64) {
        self.phase = phase
        since = now
    }
}
