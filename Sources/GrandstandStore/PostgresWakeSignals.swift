package import Grandstand
internal import Logging
package import Postgres
internal import Synchronization

/// Hands NOTIFY on to the loops: one LISTEN connection for all of them.
package final class PostgresWakeSignals: WakeSignals {
    private let pool: PostgresPool
    private let subscribers = Mutex<[WakeTopic: [AsyncStream<Void>.Continuation]]>([:])

    package init(_ pool: PostgresPool) { self.pool = pool }

    package func wakes(_ topic: WakeTopic) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        subscribers.withLock { $0[topic, default: []].append(continuation) }
        return stream
    }

    /// Listens until cancelled. After every reconnect all topics are woken: what was notified meanwhile is lost.
    package func run() async {
        for await element in pool.notifications(on: WakeTopic.allCases.map(\.rawValue)) {
            switch element {
            case .listening: WakeTopic.allCases.forEach(wake)
            case .notification(let channel, _): WakeTopic(rawValue: channel).map(wake)
            }
        }
    }

    private func wake(_ topic: WakeTopic) {
        for continuation in subscribers.withLock({ $0[topic] ?? [] }) { continuation.yield() }
    }
}
