internal import Synchronization

/// Counts by name, from any thread.
final class Tally: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func add(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

    subscript(_ name: String) -> Int { counts.withLock { $0[name, default: 0] } }

    var all: [String: Int] { counts.withLock { $0 } }
}
