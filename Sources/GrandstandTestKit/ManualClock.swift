package import FoundationEssentials
internal import Synchronization

/// A clock that a test holds: it moves when it is told to.
package final class ManualClock: Sendable {
    private let date: Mutex<Date>

    /// - Parameter date: a whole number of microseconds survives the database exactly.
    package init(_ date: Date = Date(timeIntervalSince1970: 1_700_000_000)) { self.date = Mutex(date) }

    package var now: Date { date.withLock { $0 } }

    /// Moves on by `seconds` and returns the new time.
    @discardableResult
    package func advance(by seconds: Double) -> Date {
        date.withLock { date in
            date = date.addingTimeInterval(seconds)
            return date
        }
    }
}
