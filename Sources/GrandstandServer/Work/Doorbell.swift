internal import Synchronization

/// Lets one loop sleep until somebody rings or a time has passed. Several rings before the sleep count as one ring, and
/// this ring ends the sleep at once.
final class Doorbell: Sendable {
    /// Whether somebody has rung since the last sleep, and the present sleep.
    private let state = Mutex<(isRung: Bool, sleep: Task<Void, Never>?)>((false, nil))

    func ring() {
        state.withLock { state in
            state.isRung = state.sleep == nil
            state.sleep?.cancel()
        }
    }

    /// Returns when the bell was rung since the last call, when `timeout` has passed, or when the task is cancelled.
    func wait(atMost timeout: Duration) async {
        let sleep = Task { _ = try? await Task.sleep(for: timeout) }
        state.withLock { state in
            if state.isRung { sleep.cancel() }
            state = (false, sleep)
        }
        await withTaskCancellationHandler {
            await sleep.value
        } onCancel: {
            sleep.cancel()
        }
        state.withLock { $0.sleep = nil }
    }
}
