internal import Postgres
internal import Synchronization

/// A lock for each key. One task at a time holds the lock of a key, in the order in which the tasks asked. A task that
/// waits holds no other resource: a hundred repetitions of one request hold one database connection, not a hundred.
final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// The locks that tasks hold or wait for.
    private let locks = Mutex<[Key: (lock: Semaphore, users: Int)]>([:])

    func withLock<Value: Sendable>(_ key: Key, _ body: () async throws -> Value) async rethrows -> Value {
        let lock = locks.withLock { locks in
            let (lock, users) = locks[key] ?? (Semaphore(permits: 1), 0)
            locks[key] = (lock, users + 1)
            return lock
        }
        await PostgresTimeLimit.counting { await lock.enter() }
        defer {
            lock.leave()
            locks.withLock { locks in
                let users = (locks[key]?.users ?? 1) - 1
                locks[key] = users == 0 ? nil : (lock, users)
            }
        }
        return try await body()
    }
}
