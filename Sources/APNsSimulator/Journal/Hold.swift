internal import Synchronization

/// Answers withheld: the requests are processed, their clients wait until `release()`.
///
/// To answer late, release after the client's deadline; to answer never, do not.
package final class Hold: Sendable {
    private struct State {
        var isReleased = false
        var answers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Answers withheld right now.
    package var count: Int { state.withLock { $0.answers.count } }

    /// Answers are withheld no more.
    package var isReleased: Bool { state.withLock { $0.isReleased } }

    /// Gives the withheld answers in the order their requests came; later requests are answered at once.
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
