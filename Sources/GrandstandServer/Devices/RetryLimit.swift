internal import FoundationEssentials
internal import Synchronization

/// How long a failed operation is retried.
final class RetryLimit: Sendable {
    private let end: Mutex<ContinuousClock.Instant?>

    /// - Parameter seconds: the time for which the operation is retried; `nil`: the operation is retried forever.
    init(_ seconds: TimeInterval?) { end = Mutex(seconds.map { .now + .seconds($0) }) }

    /// Ends the retries at `sooner`, if they would end later.
    func shorten(to sooner: ContinuousClock.Instant) {
        end.withLock { $0 = $0.map { min($0, sooner) } ?? sooner }
    }

    var isOver: Bool { end.withLock { $0.map { $0 <= .now } ?? false } }
}
