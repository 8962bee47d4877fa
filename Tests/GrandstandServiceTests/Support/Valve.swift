internal import Synchronization

/// Holds tasks until it is opened, and counts them. Cancelling a held task does not release it, as with a blocking read
/// of a socket.
final class Valve: Sendable {
    private struct State {
        var isOpen = false
        var held: [CheckedContinuation<Void, Never>] = []
        var inside = 0
        var most = 0
    }

    private let state = Mutex(State())
    private let events: AsyncStream<Int>.Continuation
    /// Yields, at each arrival, how many tasks are inside.
    private let arrivals: AsyncStream<Int>

    init() { (arrivals, events) = AsyncStream.makeStream() }

    /// The largest number of tasks that were inside at the same time.
    var most: Int { state.withLock { $0.most } }

    func pass() async {
        let inside = state.withLock { state in
            state.inside += 1
            state.most = max(state.most, state.inside)
            return state.inside
        }
        events.yield(inside)
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        // Lets other tasks run while this one still counts as inside, even when the valve is open.
        await Task.yield()
        state.withLock { $0.inside -= 1 }
    }

    /// Waits until `count` tasks are inside at the same time.
    func hold(_ count: Int) async {
        for await inside in arrivals where inside >= count { return }
    }

    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}
