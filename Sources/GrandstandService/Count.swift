internal import Synchronization

/// How many calls are under way.
final class Count: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add(_ change: Int) { count.withLock { $0 += change } }
}
