internal import Synchronization

/// Limits how many tasks work at the same time. The other tasks wait in the order in which they asked.
package final class Semaphore: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The number of tasks that may work at the same time.
    let permits: Int
    private let state: Mutex<State>

    package init(permits: Int) {
        self.permits = permits
        state = Mutex(State(free: permits))
    }

    /// Runs `body` with a permit. A task that is cancelled while it waits for a permit still gets the permit; `body`
    /// can check for cancellation.
    package func withPermit<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        await enter()
        defer { leave() }
        return try await body()
    }

    func enter(isolation: isolated (any Actor)? = #isolation) async {
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
    func leave() {
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
