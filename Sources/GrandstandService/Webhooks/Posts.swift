internal import Synchronization

/// Tasks under way that are waited for at the end, for a while, and then cancelled.
final class Posts: Sendable {
    private let tasks = Mutex<[Int: Task<Void, Never>]>([:])
    private let next = Atomic(0)

    func add(_ body: @escaping @Sendable () async -> Void) {
        let number = next.add(1, ordering: .relaxed).newValue
        tasks.withLock { tasks in
            tasks[number] = Task {
                await body()
                self.tasks.withLock { _ = $0.removeValue(forKey: number) }
            }
        }
    }

    /// Returns when every task has ended; those that take longer than `limit` are cancelled then.
    func finish(within limit: Duration) async {
        let left = tasks.withLock { Array($0.values) }
        guard !left.isEmpty else { return }
        let cutting = Task {
            try await Task.sleep(for: limit)
            for task in left { task.cancel() }
        }
        for task in left { await task.value }
        cutting.cancel()
    }
}
