package import Grandstand
internal import Logging
package import Postgres
internal import Synchronization

/// Hands NOTIFY on to the loops: one LISTEN connection for all of them.
package final class PostgresWakeSignals: WakeSignals {
    private let pool: PostgresPool
    private let subscribers = Mutex<[WakeTopic: [AsyncStream<Void>.Continuation]]>([:])
    private let readers = Mutex<[WakeTopic: [AsyncStream<WakeName>.Continuation]]>([:])

    package init(_ pool: PostgresPool) { self.pool = pool }

    package func wakes(_ topic: WakeTopic) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        subscribers.withLock { $0[topic, default: []].append(continuation) }
        return stream
    }

    package func names(_ topic: WakeTopic) -> AsyncStream<WakeName> {
        let (stream, continuation) = AsyncStream.makeStream(of: WakeName.self)
        readers.withLock { $0[topic, default: []].append(continuation) }
        return stream
    }

    /// Listens until cancelled. After every reconnect all topics are woken: what was notified meanwhile is lost.
    package func run() async {
        for await element in pool.notifications(on: WakeTopic.allCases.map(\.rawValue)) {
            switch element {
            case .listening: for topic in WakeTopic.allCases { wake(topic, .anything) }
            case .notification(let channel, let name): WakeTopic(rawValue: channel).map { wake($0, .name(name)) }
            }
        }
    }

    private func wake(_ topic: WakeTopic, _ name: WakeName) {
        for continuation in subscribers.withLock({ $0[topic] ?? [] }) { continuation.yield() }
        for continuation in readers.withLock({ $0[topic] ?? [] }) { continuation.yield(name) }
    }
}
