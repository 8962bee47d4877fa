internal import NIOCore

/// When a server closes the connection of a silent client. A client that waits for an answer is not idle.
struct IdleWatch {
    let timeout: TimeAmount
    private var lastSign: NIODeadline

    init(timeout: TimeAmount, now: NIODeadline) {
        self.timeout = timeout
        lastSign = now
    }

    /// The instant `isOver` should be asked at the latest.
    var next: NIODeadline { lastSign + timeout }

    mutating func read(now: NIODeadline) { lastSign = now }

    /// - Parameter owed: answers the client waits for; while there are any the time starts anew.
    mutating func isOver(now: NIODeadline, owed: Int) -> Bool {
        guard now >= next else { return false }
        guard owed > 0 else { return true }
        lastSign = now
        return false
    }
}
