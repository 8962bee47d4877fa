internal import Synchronization

/// Lets one loop sleep until somebody rings or a time has passed. Several rings before the sleep count as one ring, and
/// this ring ends the sleep at once.
final class Doorbell: Sendable {
    private enum State {
        case quiet
        case rung
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Mutex<State>(.quiet)

    init() {}

    func ring() {
        let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { if case .awaited = state { state = .quiet } else { state = .rung } }
            guard case .awaited(let continuation) = state else { return nil }
            return continuation
        }
        sleeper?.resume()
    }

    /// Returns when the bell was rung since the last call, when `timeout` has passed, or when the task is cancelled.
    func wait(atMost timeout: Duration) async {
        guard timeout > .zero else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForRing() }
            group.addTask { try? await Task.sleep(for: timeout) }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForRing() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumeNow = state.withLock { state in
                    if case .rung = state {
                        state = .quiet
                        return true
                    }
                    if Task.isCancelled { return true }
                    state = .awaited(continuation)
                    return false
                }
                if resumeNow { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard case .awaited(let continuation) = state else { return nil }
                state = .quiet
                return continuation
            }
            sleeper?.resume()
        }
    }
}
