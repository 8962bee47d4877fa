internal import Postgres
internal import Synchronization

/// One task at a time for each key, in the order in which they asked. Tasks that wait hold nothing else meanwhile:
/// a hundred repetitions of one request hold one database connection, not a hundred.
final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// Keys that are locked, and the tasks that wait for them.
    private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    func withLock<Value: Sendable>(_ key: Key, _ body: () async throws -> Value) async rethrows -> Value {
        await PostgresPatience.counting { await enter(key) }
        defer { leave(key) }
        return try await body()
    }

    private func enter(_ key: Key) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ key: Key) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard var line = waiting[key], !line.isEmpty else {
                waiting[key] = nil
                return nil
            }
            let next = line.removeFirst()
            waiting[key] = line
            return next
        }
        next?.resume()
    }
}
