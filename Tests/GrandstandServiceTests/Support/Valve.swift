internal import Synchronization

/// Holds tasks until it is opened, and counts them. Like a socket, it is not opened by cancellation.
final class Valve: Sendable {
    private struct State {
        var isOpen = false
        var held: [CheckedContinuation<Void, Never>] = []
        var inside = 0
        var most = 0
    }

    private let state = Mutex(State())
    private let events: AsyncStream<Int>.Continuation
    /// Yields the number of arrivals at each arrival.
    private let arrivals: AsyncStream<Int>

    init() { (arrivals, events) = AsyncStream.makeStream() }

    /// The most tasks that were inside at a time.
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

    /// Waits until `count` tasks are inside at a time.
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
