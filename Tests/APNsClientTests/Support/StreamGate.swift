internal import HTTP2
internal import Synchronization

/// Withholds the answers of streams until it is released.
final class StreamGate: Sendable {
    private struct State {
        var streams: [HTTP2ServerStream] = []
        var isReleased = false
    }

    private let state = Mutex(State())
    private let (kept, keeping) = AsyncStream<Void>.makeStream()

    /// Withholds the answer of the stream and returns `true`. After the release it does nothing and returns `false`, so
    /// the caller must answer the stream.
    func keep(_ stream: HTTP2ServerStream) -> Bool {
        let isKept = state.withLock { state in
            if !state.isReleased { state.streams.append(stream) }
            return !state.isReleased
        }
        if isKept { keeping.yield() }
        return isKept
    }

    /// Waits until `count` more streams are withheld. Stops waiting when the test's time is over.
    func arrivals(_ count: Int) async {
        var seen = 0
        for await _ in kept {
            seen += 1
            if seen == count { return }
        }
    }

    /// Accepts all withheld streams.
    func release() {
        let streams = state.withLock { state in
            state.isReleased = true
            defer { state.streams = [] }
            return state.streams
        }
        for stream in streams { stream.accept() }
    }
}
