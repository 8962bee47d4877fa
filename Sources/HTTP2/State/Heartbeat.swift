internal import NIOCore

/// When to ask the peer whether it is still there, and when to stop believing it.
///
/// Whatever the peer sends is a sign of life; only silence is asked about, and only silence after the question kills.
struct Heartbeat {
    enum Action: Equatable {
        /// Nothing to do before then.
        case wait(until: NIODeadline)
        /// Send a PING now.
        case ping
        /// The last PING was followed by silence for the whole `timeout`.
        case dead
    }

    /// Silence that is asked about while no answer is awaited.
    let idle: TimeAmount
    /// Silence that is asked about while answers are awaited.
    let overdue: TimeAmount
    let timeout: TimeAmount

    private var lastRead: NIODeadline
    /// Since when answers are awaited without a break.
    private var busySince: NIODeadline?
    private var pingSent: NIODeadline?

    init(idle: TimeAmount, overdue: TimeAmount, timeout: TimeAmount, now: NIODeadline) {
        self.idle = idle
        self.overdue = overdue
        self.timeout = timeout
        lastRead = now
    }

    mutating func read(now: NIODeadline) {
        lastRead = now
        pingSent = nil
    }

    /// Whether answers are awaited, as it is now.
    mutating func awaiting(_ answers: Bool, now: NIODeadline) {
        if !answers { busySince = nil } else if busySince == nil { busySince = now }
    }

    /// The instant `check` should be called at the latest.
    var next: NIODeadline {
        if let pingSent { return pingSent + timeout }
        guard let busySince else { return lastRead + idle }
        return max(lastRead, busySince) + overdue
    }

    mutating func check(now: NIODeadline) -> Action {
        guard now >= next else { return .wait(until: next) }
        if pingSent != nil { return .dead }
        pingSent = now
        return .ping
    }
}
