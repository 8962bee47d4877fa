/// The callers that wait for a change of a lock screen.
struct Watchers: Sendable {
    private var continuations: [Int: AsyncStream<Never>.Continuation] = [:]
    private var made = 0
    /// Whether the simulator has stopped, so that no caller waits any longer.
    private(set) var isClosed = false

    mutating func add(_ continuation: AsyncStream<Never>.Continuation) -> Int {
        made += 1
        continuations[made] = continuation
        return made
    }

    mutating func remove(_ id: Int) { continuations[id] = nil }

    /// Stops all waits, because the simulator stops. Later callers do not wait either.
    mutating func close() -> [AsyncStream<Never>.Continuation] {
        isClosed = true
        return take()
    }

    /// All waiting callers. Finish them after the lock is released.
    mutating func take() -> [AsyncStream<Never>.Continuation] {
        defer { continuations = [:] }
        return Array(continuations.values)
    }
}
