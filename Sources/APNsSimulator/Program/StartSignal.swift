internal import Synchronization

/// A signal that is given once, and its waiting callers.
final class StartSignal: Sendable {
    private struct State {
        var isFired = false
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Mutex(State())

    func fire() {
        let waiting = state.withLock { state in
            state.isFired = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Returns when the signal was given, or the task is cancelled.
    func wait() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let isFired = state.withLock { state in
            if !state.isFired { state.waiting.append(continuation) }
            return state.isFired
        }
        if isFired { return }
        for await _ in stream {}
    }
}
