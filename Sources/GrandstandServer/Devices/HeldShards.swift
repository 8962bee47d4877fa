internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// The shards that a loop works on, and whether the database answers.
final class HeldShards: Sendable {
    private struct State {
        /// The number of shards in progress of each owner. An owner is a run of a start, or a lane.
        var held: [Int: Int] = [:]
        /// Shards whose answers could not be recorded yet.
        var unrecorded = 0
        var clock = LeaseClock()
    }

    private let state = Mutex(State())

    /// The owners whose shards are being worked on, sorted; one of two shards stands twice.
    var holding: [Int] { state.withLock { $0.held.flatMap { repeatElement($0.key, count: $0.value) }.sorted() } }

    /// Whether answers wait for the database. While answers wait, no more pushes should be sent, because the answers to
    /// these pushes could not be recorded either.
    var hasUnrecorded: Bool { state.withLock { $0.unrecorded > 0 } }

    func leasesEndedBefore(at now: Date) -> Date { state.withLock { $0.clock.leasesEndedBefore(at: now) } }

    func answered(at now: Date, lease: TimeInterval) { state.withLock { $0.clock.answered(at: now, lease: lease) } }

    func failed() { state.withLock { $0.clock.failed() } }

    func hold(_ owners: [Int]) {
        state.withLock { state in for owner in owners { state.held[owner, default: 0] += 1 } }
    }

    func release(_ owner: Int) {
        state.withLock { state in
            let left = (state.held[owner] ?? 1) - 1
            state.held[owner] = left > 0 ? left : nil
        }
    }

    func change(unrecorded change: Int) { state.withLock { $0.unrecorded += change } }
}
