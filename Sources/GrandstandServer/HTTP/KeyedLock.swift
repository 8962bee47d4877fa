internal import Postgres
internal import Synchronization

/// A lock for each key. One task at a time holds the lock of a key, in the order in which the tasks asked. A task that
/// waits holds no other resource: a hundred repetitions of one request hold one database connection, not a hundred.
final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// Keys that are locked, and the tasks that wait for them.
    private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    func withLock<Value: Sendable>(_ key: Key, _ body: () async throws -> Value) async rethrows -> Value {
        await PostgresTimeLimit.counting { await enter(key) }
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
