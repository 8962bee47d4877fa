package import Foundation

/// The world's time and chance, as far as the client depends on them; tests hold them.
package struct ClientTime: Sendable {
    /// The wall clock.
    package var now: @Sendable () -> Date
    /// Seconds of a clock that nobody sets and that goes on while the system sleeps; only differences mean anything.
    package var uptime: @Sendable () -> TimeInterval
    /// Waits for so many seconds; throws `CancellationError` at once when the task is cancelled.
    package var sleep: @Sendable (TimeInterval) async throws -> Void
    /// From 0 to 1.
    package var chance: @Sendable () -> Double

    /// A time of these.
    package init(
        now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> TimeInterval,
        sleep: @escaping @Sendable (TimeInterval) async throws -> Void, chance: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
        self.chance = chance
    }

    /// The system's.
    package static let system =
        ClientTime(
            now: { Date() }, uptime: { sinceBoot() },
            sleep: { try await Task.sleep(nanoseconds: UInt64(max(0, min($0, longestSleep)) * 1e9)) },
            chance: { Double.random(in: 0...1) })

    /// A year: whoever sleeps longer looks again then.
    private static let longestSleep: TimeInterval = 366 * 86_400

    /// Swift's own clocks need iOS 16.
    private static func sinceBoot() -> TimeInterval {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1e9
    }
}
