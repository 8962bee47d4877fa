internal import Synchronization

/// Limits how many tasks work at the same time. The other tasks wait in the order in which they asked.
package final class Semaphore: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// - Parameter permits: the number of tasks that may work at the same time.
    package init(permits: Int) { state = Mutex(State(free: permits)) }

    /// Waits for a permit. A task that is cancelled while it waits still gets the permit.
    package func enter(isolation: isolated (any Actor)? = #isolation) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// The permit goes directly to the next waiting task.
    package func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
