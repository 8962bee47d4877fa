/// How long to leave a server alone that could not be reached: twice as long each time, with jitter, bounded. APNs
/// takes rapid opening and closing for an attack and blocks such clients (docs/internals/apns.md 6).
struct Backoff: Sendable, Hashable {
    /// Before the second attempt, before jitter.
    var base: Duration = .milliseconds(100)
    /// The longest step.
    var ceiling: Duration = .seconds(15)

    /// Failures in a row.
    private(set) var failures = 0

    init() {}

    mutating func succeeded() { failures = 0 }

    /// The pause after one more failure.
    ///
    /// - Parameter jitter: random, in 0..<1; the pause is between half of the step and the whole, so that replicas that
    ///   lost their connections together do not come back together.
    mutating func failed(jitter: Double) -> Duration {
        failures += 1
        let step = min(ceiling, base * (1 << min(failures - 1, 20)))
        return step * (0.5 + jitter / 2)
    }
}
