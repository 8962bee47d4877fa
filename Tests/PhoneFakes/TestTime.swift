package import Foundation
package import GrandstandClient
internal import Synchronization

/// A phone's clock that moves only while a task sleeps, so that tests do not wait.
package final class TestTime: Sendable {
    private let elapsed = Mutex(TimeInterval.zero)
    private let wallClock = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

    package init() {}

    package var date: Date { wallClock.withLock { $0 } }

    /// Sets the wall clock, as a person can.
    package func set(_ date: Date) { wallClock.withLock { $0 = date } }

    package var time: ClientTime {
        var time = ClientTime.system
        time.now = { self.date }
        time.uptime = { self.elapsed.withLock { $0 } }
        time.sleep = { wait in
            let end = self.elapsed.withLock { $0 + wait }
            // Other tasks may have something to do first.
            await Task.yield()
            try Task.checkCancellation()
            self.elapsed.withLock { $0 = max($0, end) }
        }
        time.chance = { 0.5 }
        return time
    }
}

extension ClientTime {
    /// A phone's clock that stands still. A sleep lasts until it is cancelled.
    package static var standing: ClientTime {
        var time = system
        time.now = { Date(timeIntervalSince1970: 1_700_000_000) }
        time.uptime = { .zero }
        time.sleep = { _ in try await Task.sleep(for: .seconds(86_400)) }
        time.chance = { 0 }
        return time
    }
}
