internal import Foundation
internal import Synchronization

/// A clock that moves only when the test says so.
final class HeldClock: Sendable {
    private let time: Mutex<TimeInterval>

    init(_ time: TimeInterval) { self.time = Mutex(time) }

    var now: Date { Date(timeIntervalSince1970: time.withLock { $0 }) }

    func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
