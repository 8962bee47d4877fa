/// How long to wait before the next attempt to connect: twice as long after each failure, with jitter and an upper
/// limit. APNs treats rapid opening and closing as an attack and blocks such clients (docs/internals/apns.md 6).
struct Backoff: Sendable, Hashable {
    /// The longest pause after the first failure.
    var base: Duration = .milliseconds(100)
    /// The longest pause after any number of failures.
    var ceiling: Duration = .seconds(15)

    /// The longest pause after a connection that APNs ended because too many device tokens were wrong.
    var afterDeviceTokens: Duration = .seconds(1)

    /// Failures in a row.
    private(set) var failures = 0

    mutating func succeeded() { failures = 0 }

    /// - Returns: the pause after a connection that APNs ended because of device tokens. It does not grow, and it is
    ///   not counted as a failure: the connection worked.
    func endedByDeviceTokens(jitter: Double) -> Duration { afterDeviceTokens * (0.5 + jitter / 2) }

    /// Counts a failure, and returns the pause after it.
    ///
    /// - Parameter jitter: a random number in 0..<1. It shortens the pause by up to half, so that replicas that lost
    ///   their connections together do not reconnect together.
    mutating func failed(jitter: Double) -> Duration {
        failures += 1
        let step = min(ceiling, base * (1 << min(failures - 1, 20)))
        return step * (0.5 + jitter / 2)
    }
}
