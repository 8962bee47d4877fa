import NIOConcurrencyHelpers

/// Counts by name, from any thread.
final class Ledger: Sendable {
    private let counts = NIOLockedValueBox<[String: Int]>([:])

    @discardableResult
    func add(_ name: String) -> Int {
        counts.withLockedValue { counts in
            counts[name, default: 0] += 1
            return counts[name, default: 0]
        }
    }

    var all: [String: Int] { counts.withLockedValue { $0 } }
}
