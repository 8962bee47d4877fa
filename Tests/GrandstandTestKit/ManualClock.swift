package import FoundationEssentials
internal import Synchronization

/// A clock that moves only when the test says so.
package final class ManualClock: Sendable {
    private let date: Mutex<Date>

    /// - Parameter date: use a whole number of microseconds, which the database stores exactly.
    package init(_ date: Date = Date(timeIntervalSince1970: 1_700_000_000)) { self.date = Mutex(date) }

    package var now: Date { date.withLock { $0 } }

    /// Moves the clock on by `seconds` and returns the new time.
    @discardableResult
    package func advance(by seconds: Double) -> Date {
        date.withLock { date in
            date = date.addingTimeInterval(seconds)
            return date
        }
    }
}
