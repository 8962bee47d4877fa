internal import HTTP2
internal import Synchronization

/// Keeps streams unanswered until it is released.
final class StreamGate: Sendable {
    private struct State {
        var streams: [HTTP2ServerStream] = []
        var isReleased = false
    }

    private let state = Mutex(State())
    private let (kept, keeping) = AsyncStream<Void>.makeStream()

    /// False once released: the caller answers itself.
    func keep(_ stream: HTTP2ServerStream) -> Bool {
        let isKept = state.withLock { state in
            if !state.isReleased { state.streams.append(stream) }
            return !state.isReleased
        }
        if isKept { keeping.yield() }
        return isKept
    }

    /// Waits until `count` more streams have been kept; a test whose time is up waits no longer.
    func arrivals(_ count: Int) async {
        var seen = 0
        for await _ in kept {
            seen += 1
            if seen == count { return }
        }
    }

    /// Accepts every stream kept so far.
    func release() {
        let streams = state.withLock { state in
            state.isReleased = true
            defer { state.streams = [] }
            return state.streams
        }
        for stream in streams { stream.accept() }
    }
}
