internal import Synchronization

/// Lets a bounded number of tasks in at a time, in the order of asking.
final class Gate: Sendable {
    private struct State {
        var places: Int
        var line: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(places: Int) { state = Mutex(State(places: places)) }

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.places > 0 else {
                    state.line.append(continuation)
                    return false
                }
                state.places -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.line.isEmpty else { return state.line.removeFirst() }
            state.places += 1
            return nil
        }
        next?.resume()
    }
}
