internal import FoundationEssentials
internal import Grandstand
internal import Postgres
internal import Synchronization

/// Wakes the loops after a commit: those of this process at once, and those of other processes by NOTIFY, never with more
/// than one statement at a time. Topics that come while a statement is in progress go with the next statement.
///
/// The NOTIFY is not in the transaction that commits the work. There, NOTIFY would hold a database-wide lock until the
/// commit is on disk, so commits could not share a flush. With NOTIFY in the transaction, 16 connections made 1,200
/// commits a second; without it, 6,800. If a process dies between the commit and the NOTIFY, the loops find the work by
/// polling.
final class WakeUps: Sendable {
    private struct State {
        var topics: Set<WakeTopic> = []
        var isSending = false
    }

    private let database: Database
    private let signals: WakeSignals?
    private let outages: OutageLog?
    private let state = Mutex(State())

    init(_ database: Database, signals: WakeSignals? = nil, outages: OutageLog?) {
        self.database = database
        self.signals = signals
        self.outages = outages
    }

    /// Wakes the loops that wait for these topics, soon.
    func send(_ topics: Set<WakeTopic>) {
        guard !topics.isEmpty else { return }
        wake(topics)
        let starts = state.withLock { state in
            state.topics.formUnion(topics)
            defer { state.isSending = true }
            return !state.isSending
        }
        guard starts else { return }
        Task { await sendAll() }
    }

    /// Wakes the loops of this process.
    func wake(_ topics: Set<WakeTopic>) {
        for topic in topics { signals?.wake(topic) }
    }

    private func sendAll() async {
        while let topics = next() {
            // If the statement fails, the loops find the work by polling.
            do {
                try await PostgresTimeLimit.renewing { _ = try await database.query(notify(topics)) }
                outages?.worked()
            } catch {
                outages?.failed(error)
            }
        }
    }

    private func next() -> Set<WakeTopic>? {
        state.withLock { state in
            state.isSending = !state.topics.isEmpty
            defer { state.topics = [] }
            return state.isSending ? state.topics : nil
        }
    }

    /// Wakes the loops of the other processes. This process ignores its own NOTIFY. The commit does not wait for the disk,
    /// because commits of work would wait behind it.
    private func notify(_ topics: Set<WakeTopic>) -> PostgresQuery {
        """
        select pg_notify(topic, \(signals?.id.uuidString ?? "")) from unnest(\(topics.map(\.rawValue).sorted())) as t(topic),
            set_config('synchronous_commit', 'off', true)
        """
    }

    /// The statement that wakes the loops of all processes. Only transactions that are rare may contain it, because NOTIFY holds a
    /// database-wide lock until the commit.
    static func wake(_ topics: Set<WakeTopic>) -> PostgresQuery {
        "select pg_notify(topic, '') from unnest(\(topics.map(\.rawValue).sorted())) as t(topic)"
    }
}
