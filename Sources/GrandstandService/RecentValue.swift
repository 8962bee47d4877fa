internal import Synchronization

/// A value that is made when it is asked for and is valid for a while: one maker at a time, however many callers there
/// are.
///
/// A caller waits for `timeout` at most; then it gets what `late` says in place of a value.
package final class RecentValue<Value: Sendable>: Sendable {
    private struct State {
        var value: (value: Value, at: ContinuousClock.Instant)?
        /// Callers that wait for the value that is being made; `nil`: none is.
        var waiting: [CheckedContinuation<Value, Never>]?
        /// The maker has taken longer than anybody is to wait.
        var isLate = false
        /// Counts the makers.
        var round = 0
    }

    private let age: Duration
    private let timeout: Duration
    private let late: @Sendable () -> Value
    private let make: @Sendable () async -> Value
    private let state = Mutex(State())

    /// - Parameters:
    ///   - age: how old a value may be, counted from when its making began.
    ///   - timeout: how long a caller may wait.
    ///   - late: the value for callers that waited so long.
    package init(
        age: Duration, timeout: Duration, late: @escaping @Sendable () -> Value,
        make: @escaping @Sendable () async -> Value
    ) {
        self.age = age
        self.timeout = timeout
        self.late = late
        self.make = make
    }

    /// The value, not older than `age` unless its making took longer.
    package func get() async -> Value {
        await withCheckedContinuation { continuation in
            let (known, starts) = state.withLock { state -> (Value?, Int?) in
                if let value = state.value, value.at.duration(to: .now) < age { return (value.value, nil) }
                guard state.waiting != nil else {
                    state.waiting = [continuation]
                    state.round += 1
                    return (nil, state.round)
                }
                if state.isLate { return (late(), nil) }
                state.waiting?.append(continuation)
                return (nil, nil)
            }
            if let known { continuation.resume(returning: known) }
            if let starts { begin(starts) }
        }
    }

    private func begin(_ round: Int) {
        // No part of the task that asked first: others wait for the same, and it may be cancelled.
        let timer = Task.detached {
            try await Task.sleep(for: self.timeout)
            self.giveUp(round)
        }
        Task.detached {
            let began = ContinuousClock.now
            let value = await self.make()
            timer.cancel()
            self.finish(value, began)
        }
    }

    private func finish(_ value: Value, _ began: ContinuousClock.Instant) {
        let waiting = state.withLock { state in
            state.value = (value, began)
            state.isLate = false
            defer { state.waiting = nil }
            return state.waiting ?? []
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    private func giveUp(_ round: Int) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard state.round == round, let waiting = state.waiting else { return [] }
            state.isLate = true
            state.value = nil
            state.waiting = []
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: late()) }
    }
}
