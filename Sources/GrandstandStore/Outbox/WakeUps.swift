internal import Grandstand
internal import Postgres
internal import Synchronization

/// Wakes the loops after a commit, by NOTIFY, never more than one at a time: what is to be woken while one is under way
/// goes in the next.
///
/// Not in the transaction that has the work: NOTIFY takes a lock on the whole database until the commit is on disk, so
/// commits could not share a flush (16 connections made 1,200 commits a second with it, 6,800 without). A process that
/// dies between the two leaves the work to the loops' poll.
final class WakeUps: Sendable {
    private struct State {
        var topics: Set<WakeTopic> = []
        var isSending = false
    }

    private let database: Database
    private let outages: (any OutageReporter)?
    private let state = Mutex(State())

    init(_ database: Database, outages: (any OutageReporter)?) {
        self.database = database
        self.outages = outages
    }

    /// Wakes the loops that wait for these topics, soon.
    func send(_ topics: Set<WakeTopic>) {
        guard !topics.isEmpty else { return }
        let starts = state.withLock { state in
            state.topics.formUnion(topics)
            defer { state.isSending = true }
            return !state.isSending
        }
        guard starts else { return }
        Task { await sendAll() }
    }

    private func sendAll() async {
        while let topics = next() {
            // The loops' poll finds what this did not tell.
            do {
                try await PostgresPatience.renewing { _ = try await database.query(Self.wake(topics)) }
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

    /// The statement that wakes them, for transactions that are rare enough to have it inside.
    static func wake(_ topics: Set<WakeTopic>) -> PostgresQuery {
        "select pg_notify(topic, '') from unnest(\(topics.map(\.rawValue).sorted())) as t(topic)"
    }
}
