internal import CoreMetrics
internal import Grandstand
internal import Synchronization

/// A counter for each kind of occurrence: finding it by its labels anew would take longer than counting.
final class CounterCache: Sendable {
    private let new: @Sendable (Occurrence) -> Counter?
    private let made = Mutex<[Occurrence: Counter]>([:])

    init(_ new: @escaping @Sendable (Occurrence) -> Counter?) { self.new = new }

    func count(_ occurrence: Occurrence) { counter(of: occurrence)?.increment() }

    /// Makes the counter, which is 0 until something is counted.
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
