package import Foundation
package import GrandstandClient
internal import Synchronization

/// A phone's time that passes while somebody sleeps, and only then: no test waits.
package final class TestTime: Sendable {
    private let elapsed = Mutex(TimeInterval.zero)
    private let wallClock = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

    package init() {}

    package var date: Date { wallClock.withLock { $0 } }

    /// People set the clock.
    package func set(_ date: Date) { wallClock.withLock { $0 = date } }

    package var time: ClientTime {
        ClientTime(
            now: { self.date }, uptime: { self.elapsed.withLock { $0 } },
            sleep: { wait in
                let end = self.elapsed.withLock { $0 + wait }
                // Others may have something to do first.
                await Task.yield()
                try Task.checkCancellation()
                self.elapsed.withLock { $0 = max($0, end) }
            }, chance: { 0.5 })
    }
}

extension ClientTime {
    /// A phone's time that stands still: whoever sleeps does so until cancelled.
    package static let standing = ClientTime(
        now: { Date(timeIntervalSince1970: 1_700_000_000) }, uptime: { .zero },
        sleep: { _ in try await Task.sleep(for: .seconds(86_400)) }, chance: { 0 })
}
