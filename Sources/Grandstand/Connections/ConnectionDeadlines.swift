/// How long one connection may take for each step. It is a pure value; times are nanoseconds of any clock.
///
/// Time counts from the beginning of a step and not from the last byte. A client that sends one byte a second is as
/// slow as one that sends none.
///
/// The first header may take `header`, counted from the beginning of the connection. A body, and bytes that wait for the
/// peer to read, may take three times as long, and a pause between two requests, with the next header, six times.
package struct ConnectionDeadlines: Sendable, Equatable {
    package enum Step: Sendable {
        /// The peer sent a whole header, or the end of a request.
        case header, end
        /// So many answers are complete. If a request has not been read to its end, the rest is still read, within its
        /// time limit. `finished`: the server has closed its side. It waits for the peer to close too, for at most the
        /// time limit between two requests. `writable`: whether the peer reads what the server sends.
        case answered(Int = 1), finished, writable(Bool)
        /// The server stops: whoever it waits for has a second.
        case stop
    }

    /// How many times as long as a header a step may take.
    private enum Phase: Int64 {
        case header = 1
        case body = 3
        /// Waiting for a further request's header.
        case idle = 6
    }

    private let header: Int64
    private var phase = Phase.header
    private var since: Int64
    /// Requests whose answers are not complete yet. An answer may be complete before its request is read.
    private var openCount = 0
    /// The server answers nothing more on this connection.
    private var isFinished = false
    private var stalledSince, stoppingSince: Int64?

    /// A new connection must begin with its request at once; otherwise it counts as slow.
    package init(header: Int64, at now: Int64) {
        self.header = header
        since = now
    }

    package mutating func note(_ step: Step, at now: Int64) {
        if case .writable(let isWritable) = step { stalledSince = isWritable ? nil : stalledSince ?? now }
        if case .stop = step { stoppingSince = stoppingSince ?? now }
        guard !isFinished else { return }
        switch step {
        case .header:
            openCount += 1
            (phase, since) = (.body, now)
        case .end: if phase == .body { (phase, since) = (.idle, now) }
        case .answered(let count):
            openCount = max(0, openCount - count)
            if phase == .idle, openCount == 0 { since = now }
        case .finished: (isFinished, openCount, phase, since) = (true, 0, .idle, now)
        case .writable, .stop: break
        }
    }

    /// When the connection has to be closed if nothing happens; `nil`: the server has to act next.
    package var deadline: Int64? {
        let step = phase == .idle && openCount > 0 ? nil : since + phase.rawValue * header
        let usual = [step, stalledSince.map { $0 + 3 * header }].compactMap(\.self).min()
        guard let usual, let stoppingSince else { return usual }
        return min(usual, max(stoppingSince, stalledSince ?? 0) + min(header, 1_000_000_000))
    }
}
