/// Pauses between attempts to connect: doubling with jitter, at most a few seconds, so that a database that comes back is
/// found soon and not stormed.
struct Backoff {
    private var step = Duration.milliseconds(50)

    mutating func next() -> Duration {
        defer { step = min(step * 2, .seconds(2)) }
        return step * Double.random(in: 0.5..<1)
    }
}
