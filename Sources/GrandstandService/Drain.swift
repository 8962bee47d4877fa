internal import ServiceLifecycle
internal import Synchronization

/// The time that a stop of this process gives to what is under way. Services are stopped one after the other; they share
/// one of these, so that the last does not begin to wait when the first has waited for its full time.
package final class Drain: Sendable {
    /// After its end: for writing down what came of it. What is not written by then is given up.
    package static let margin = Duration.seconds(2)

    private let duration: Duration
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter duration: counted from the first `begin`.
    package init(_ duration: Duration) { self.duration = duration }

    /// A stop begins, unless it has begun already.
    ///
    /// - Returns: the end.
    @discardableResult
    package func begin() -> ContinuousClock.Instant {
        end.withLock { end in
            let known = end ?? ContinuousClock.now + duration
            end = known
            return known
        }
    }

    /// Begins, and returns at the end.
    ///
    /// - Throws: `CancellationError`.
    package func wait() async throws { try await Task.sleep(until: begin(), clock: .continuous) }

    /// The same, with the margin.
    package func waitBeyond() async throws { try await Task.sleep(until: begin() + Self.margin, clock: .continuous) }

    package var isOver: Bool { isOver(for: .zero) }

    /// Whether its end is so long ago.
    package func isOver(for time: Duration) -> Bool { end.withLock { $0.map { $0 + time <= .now } ?? false } }

    package var hasBegun: Bool { end.withLock { $0 != nil } }

    /// Runs `body` in a task of its own. From a graceful stop or a cancellation of the caller on, which here mean the same,
    /// it may end within the drain; then it is cancelled.
    ///
    /// - Parameters:
    ///   - onStop: called when a stop begins.
    ///   - onEnd: called at the end of the drain, if `body` runs still.
    package func run<Value: Sendable>(
        onStop: @escaping @Sendable () -> Void = {}, onEnd: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        let running = Task { try await body() }
        let cut = Mutex<Task<Void, any Error>?>(nil)
        let stop: @Sendable () -> Void = {
            let begins = cut.withLock { cut in
                guard cut == nil else { return false }
                cut = Task {
                    try await self.wait()
                    onEnd()
                    running.cancel()
                }
                return true
            }
            if begins { onStop() }
        }
        let result = await withGracefulShutdownHandler {
            await withTaskCancellationHandler {
                await running.result
            } onCancel: {
                stop()
            }
        } onGracefulShutdown: {
            stop()
        }
        cut.withLock { $0 }?.cancel()
        return result
    }
}
