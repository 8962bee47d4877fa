package import Foundation

/// The clocks and random numbers that the client uses. Tests replace them.
package struct ClientTime: Sendable {
    /// The wall clock.
    package var now: @Sendable () -> Date
    /// Seconds of a monotonic clock that also runs while the system sleeps. Only differences are meaningful.
    package var uptime: @Sendable () -> TimeInterval
    /// Waits for this many seconds. Throws `CancellationError` at once if the task is cancelled.
    package var sleep: @Sendable (TimeInterval) async throws -> Void
    /// A random number from 0 to 1.
    package var chance: @Sendable () -> Double

    /// The system's clocks and random numbers.
    package static let system =
        ClientTime(
            now: { Date() }, uptime: { sinceBoot() },
            sleep: { try await Task.sleep(nanoseconds: UInt64(max(0, min($0, longestSleep)) * 1e9)) },
            chance: { Double.random(in: 0...1) })

    /// A year. It keeps the conversion to nanoseconds from overflowing; callers check the time again after a sleep.
    private static let longestSleep: TimeInterval = 366 * 86_400

    /// This does not use Swift's own clocks, because they need iOS 16.
    private static func sinceBoot() -> TimeInterval {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1e9
    }
}
