/// The pauses between attempts to connect. They double, with jitter, up to a few seconds, so that a database that is
/// back is found soon but not overloaded.
struct Backoff {
    private var step = Duration.milliseconds(50)

    mutating func next() -> Duration {
        defer { step = min(step * 2, .seconds(2)) }
        return step * Double.random(in: 0.5..<1)
    }
}
