internal import Synchronization

/// Withholds answers. The requests are processed, but their clients wait until `release()`.
///
/// For a late answer, call `release()` after the client's deadline. For no answer, never call it.
package final class Hold: Sendable {
    private struct State {
        var isReleased = false
        var answers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    init() {}

    /// The number of answers that are withheld now.
    package var count: Int { state.withLock { $0.answers.count } }

    /// Whether `release()` was called.
    package var isReleased: Bool { state.withLock { $0.isReleased } }

    /// Sends the withheld answers in the order of their requests. Later requests are answered at once.
    package func release() {
        let answers = state.withLock { state in
            state.isReleased = true
            defer { state.answers = [] }
            return state.answers
        }
        for answer in answers { answer() }
    }

    func keep(_ answer: @escaping @Sendable () -> Void) {
        let isReleased = state.withLock { state in
            if !state.isReleased { state.answers.append(answer) }
            return state.isReleased
        }
        if isReleased { answer() }
    }
}
