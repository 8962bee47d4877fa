internal import CoreMetrics
internal import Grandstand
internal import Synchronization

/// Caches a counter for each kind of occurrence, because finding it by its labels takes longer than counting.
final class CounterCache: Sendable {
    private let new: @Sendable (Occurrence) -> Counter?
    private let made = Mutex<[Occurrence: Counter]>([:])

    init(_ new: @escaping @Sendable (Occurrence) -> Counter?) { self.new = new }

    func count(_ occurrence: Occurrence) { counter(of: occurrence)?.increment() }

    /// Creates the counter with the value 0.
    func make(_ occurrence: Occurrence) { _ = counter(of: occurrence) }

    private func counter(of occurrence: Occurrence) -> Counter? {
        made.withLock { made in
            if let counter = made[occurrence] { return counter }
            let counter = new(occurrence)
            made[occurrence] = counter
            return counter
        }
    }
}
