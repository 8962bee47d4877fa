internal import FoundationEssentials
internal import Postgres
internal import Synchronization

/// Wakes loops when the database has work for them: those of this process at once, and those of other processes by NOTIFY,
/// with one LISTEN connection for all loops. A wake-up does not say which work: loops read the state again.
///
/// The NOTIFY is not in the transaction that commits the work. There, NOTIFY would hold a database-wide lock until the
/// commit is on disk, so commits could not share a flush. With NOTIFY in the transaction, 16 connections made 1,200
/// commits a second; without it, 6,800. If a process dies between the commit and the NOTIFY, the loops find the work by
/// polling.
final class WakeUps: Sendable {
    /// The payload of this process's own notifications. Its loops are already awake, so they ignore them.
    private let id: String
    private let database: Database
    private let subscribers = Mutex<[WakeTopic: [AsyncStream<Void>.Continuation]]>([:])
    /// Topics that come while a NOTIFY is in progress go with the next one.
    private let notifier: Batch<Set<WakeTopic>, Void>

    init(_ database: Database) {
        let id = UUID().uuidString
        (self.id, self.database) = (id, database)
        notifier = Batch(limit: .max) { sets in
            let topics = Set(sets.joined().map(\.rawValue)).sorted()
            // If the statement fails, the loops find the work by polling.
            try await PostgresTimeLimit.$current.withValue(.forRequest()) {
                // The commit does not wait for the disk, because commits of work would wait behind it.
                _ = try await database.query(
                    """
                    select pg_notify(topic, \(id)) from unnest(\(topics)) as t(topic),
                        set_config('synchronous_commit', 'off', true)
                    """)
            }
            return sets.map { _ in }
        }
    }

    /// Yields whenever there may be new work of a topic, also after a time in which notifications may have been lost.
    func wakes(_ topic: WakeTopic) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        subscribers.withLock { $0[topic, default: []].append(continuation) }
        return stream
    }

    /// Listens until cancelled. After every reconnect all topics are woken, because notifications from the time without
    /// a connection are lost.
    ///
    /// - Parameter onReconnect: called after each reconnect, perhaps to another server.
    func run(onReconnect: @Sendable () -> Void = {}) async {
        var hasListened = false
        for await element in database.pool.notifications(on: WakeTopic.allCases.map(\.rawValue)) {
            switch element {
            case .listening:
                if hasListened { onReconnect() }
                hasListened = true
                wakeLocal(Set(WakeTopic.allCases))
            case .notification(let channel, let sender) where sender != id:
                if let topic = WakeTopic(rawValue: channel) { wakeLocal([topic]) }
            case .notification: break
            }
        }
    }

    /// Wakes the loops of this process.
    func wakeLocal(_ topics: Set<WakeTopic>) {
        for continuation in subscribers.withLock({ all in topics.flatMap { all[$0] ?? [] } }) {
            continuation.yield()
        }
    }

    /// Wakes the loops that wait for these topics, soon.
    func send(_ topics: Set<WakeTopic>) {
        guard !topics.isEmpty else { return }
        wakeLocal(topics)
        Task.detached { try? await self.notifier.run(topics) }
    }

    /// The statement that wakes the loops of all processes. Only transactions that are rare may contain it, because NOTIFY holds a
    /// database-wide lock until the commit.
    static func notify(_ topics: Set<WakeTopic>) -> PostgresQuery {
        "select pg_notify(topic, '') from unnest(\(topics.map(\.rawValue).sorted())) as t(topic)"
    }
}
