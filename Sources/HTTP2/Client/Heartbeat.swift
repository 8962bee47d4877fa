internal import NIOCore

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
    let overdue: TimeAmount
    let timeout: TimeAmount

    private(set) var lastRead: NIODeadline
    /// Since when at least one answer has been awaited without a break; `nil`: no answer is awaited.
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

    /// Sets whether answers are awaited now.
    mutating func awaiting(_ answers: Bool, now: NIODeadline) {
        if !answers { busySince = nil } else if busySince == nil { busySince = now }
    }

    /// The latest time to call `check`.
    var next: NIODeadline {
        if let pingSent { return pingSent + timeout }
        guard let busySince else { return lastRead + idle }
        return max(lastRead, busySince) + overdue
    }

    mutating func check(now: NIODeadline) -> Action {
        guard now >= next else { return .wait }
        if pingSent != nil { return .dead }
        pingSent = now
        return .ping
    }
}
