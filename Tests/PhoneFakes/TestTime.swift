package import Foundation
internal import GrandstandLiveActivities
internal import Synchronization

/// A phone's time that passes while somebody sleeps, and only then: no test waits.
package final class TestTime: PhoneTime {
    private let elapsed = Mutex(Duration.zero)
    private let wallClock = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

    package init() {}

    package var now: Duration { elapsed.withLock { $0 } }
    package var date: Date { wallClock.withLock { $0 } }

    /// People set the clock.
    package func set(_ date: Date) { wallClock.withLock { $0 = date } }

    package func sleep(until: Duration) async {
        // Others may have something to do first.
        await Task.yield()
        guard !Task.isCancelled else { return }
        elapsed.withLock { $0 = max($0, until) }
    }

    package func jitter() -> Double { 0.5 }
}

/// A phone's time that stands still: whoever sleeps does so until cancelled.
package final class StandingTime: PhoneTime {
    private let elapsed = Mutex(Duration.zero)

    package init() {}

    package var now: Duration { elapsed.withLock { $0 } }
    package var date: Date { Date(timeIntervalSince1970: 1_700_000_000) }

    package func sleep(until: Duration) async {
        try? await Task.sleep(for: .seconds(86_400))
    }

    package func jitter() -> Double { 0 }
}
