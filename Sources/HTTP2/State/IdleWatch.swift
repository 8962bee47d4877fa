internal import NIOCore

/// When a server closes a silent client's connection. A client that waits for an answer is not idle.
struct IdleWatch {
    let timeout: TimeAmount
    private var lastSign: NIODeadline

    init(timeout: TimeAmount, now: NIODeadline) {
        self.timeout = timeout
        lastSign = now
    }

    /// When `isOver` must be called next. Earlier calls return `false`.
    var next: NIODeadline { lastSign + timeout }

    mutating func read(now: NIODeadline) { lastSign = now }

    /// - Parameter owed: the number of answers that the client waits for. If there are any, the idle time starts again.
    mutating func isOver(now: NIODeadline, owed: Int) -> Bool {
        guard now >= next else { return false }
        guard owed > 0 else { return true }
        lastSign = now
        return false
    }
}
