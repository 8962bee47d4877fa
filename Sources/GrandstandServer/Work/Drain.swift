internal import ServiceLifecycle
internal import Synchronization

/// The time that a stop of this process leaves for work in progress. Services stop one after the other and share one
/// `Drain`, so that their waiting times do not add up.
final class Drain: Sendable {
    /// The time after the drain for recording results. Results that are not recorded within the margin are lost.
    static let margin = Duration.seconds(2)

    private let duration: Duration
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter duration: the duration of the drain, counted from the first `begin`.
    init(_ duration: Duration) { self.duration = duration }

    /// Begins the stop, unless it has begun.
    ///
    /// - Returns: when the drain ends.
    @discardableResult
    func begin() -> ContinuousClock.Instant {
        end.withLock { end in
            let known = end ?? ContinuousClock.now + duration
            end = known
            return known
        }
    }

    /// Whether the drain ended at least `time` ago.
    func isOver(for time: Duration = .zero) -> Bool { end.withLock { $0.map { $0 + time <= .now } ?? false } }

    var hasBegun: Bool { end.withLock { $0 != nil } }

    /// Runs `body` in its own task. After a graceful stop or a cancellation of the caller, `body` may finish within the
    /// drain. If `body` still runs at the end of the drain, it is cancelled.
    ///
    /// - Parameter onStop: called when a stop begins, perhaps twice.
    func protect<Value: Sendable>(
        onStop: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        let running = Task { try await body() }
        return await withTaskCancellationOrGracefulShutdownHandler {
            await running.result
        } onCancelOrGracefulShutdown: {
            onStop()
            let end = self.begin()
            Task {
                try await Task.sleep(until: end, clock: .continuous)
                running.cancel()
            }
        }
    }
}
