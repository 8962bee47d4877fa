internal import FoundationEssentials
internal import Grandstand
internal import Logging
package import Postgres
internal import Synchronization

/// Wakes loops when the database has work for them. A wake-up does not say which work: loops read the state again.
/// Passes notifications (NOTIFY) on, with one LISTEN connection for all loops.
package final class WakeSignals: Sendable {
    /// The payload of this process's own notifications. Its loops are already awake, so they ignore them.
    let id = UUID()
    private let pool: PostgresPool
    private let subscribers = Mutex<[WakeTopic: [AsyncStream<Void>.Continuation]]>([:])

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Yields whenever there may be new work of a topic, also after a time in which signals may have been lost.
    func wakes(_ topics: WakeTopic...) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        subscribers.withLock { for topic in topics { $0[topic, default: []].append(continuation) } }
        return stream
    }

    /// Listens until cancelled. After every reconnect all topics are woken, because notifications from the time without
    /// a connection are lost.
    package func run() async {
        for await element in pool.notifications(on: WakeTopic.allCases.map(\.rawValue)) {
            switch element {
            case .listening: WakeTopic.allCases.forEach(wake)
            case .notification(let channel, let sender) where sender != id.uuidString:
                WakeTopic(rawValue: channel).map(wake)
            case .notification: break
            }
        }
    }

    /// Wakes the loops of this process.
    func wake(_ topic: WakeTopic) {
        for continuation in subscribers.withLock({ $0[topic] ?? [] }) { continuation.yield() }
    }
}
