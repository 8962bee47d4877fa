/// The callers that wait for a change of a lock screen.
struct Watchers: Sendable {
    private var continuations: [Int: AsyncStream<Never>.Continuation] = [:]
    private var made = 0
    /// No caller needs to wait any more.
    private(set) var isClosed = false

    mutating func add(_ continuation: AsyncStream<Never>.Continuation) -> Int {
        made += 1
        continuations[made] = continuation
        return made
    }

    mutating func remove(_ id: Int) { continuations[id] = nil }

    /// The simulator stops: later callers do not wait either.
    mutating func close() -> [AsyncStream<Never>.Continuation] {
        isClosed = true
        return take()
    }

    /// All of them, to be finished once no lock is held.
    mutating func take() -> [AsyncStream<Never>.Continuation] {
        defer { continuations = [:] }
        return Array(continuations.values)
    }
}
