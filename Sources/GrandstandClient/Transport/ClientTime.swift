package import Foundation

/// The world's time and chance, as far as the client depends on them; tests hold them.
package struct ClientTime: Sendable {
    /// The wall clock.
    package var now: @Sendable () -> Date
    /// A clock that nobody sets; only differences mean anything.
    package var uptime: @Sendable () -> Duration
    /// Waits; throws `CancellationError` at once when the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// From 0 to 1.
    package var chance: @Sendable () -> Double

    /// A time of these.
    package init(
        now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void, chance: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
        self.chance = chance
    }

    /// The system's.
    package static let system = {
        let start = ContinuousClock.now
        return ClientTime(
            now: { Date() }, uptime: { start.duration(to: .now) }, sleep: { try await Task.sleep(for: $0) },
            chance: { Double.random(in: 0...1) })
    }()
}
