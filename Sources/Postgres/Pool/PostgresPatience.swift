internal import Synchronization

/// How long a task waits for the database: the time until it has a connection and the first answer, and the time until
/// each answer after that. A task has it for all that is done on its behalf, so nobody has to hand it on; a detached task
/// has none. Without one the pool's configuration counts, as it does for loops.
package struct PostgresPatience: Sendable, Hashable {
    @TaskLocal package static var current: PostgresPatience?

    /// For a database that answers nobody.
    package var silence: Duration
    /// For one that answers others: it is slow, or a lock is in the way.
    package var limit: Duration

    package init(silence: Duration, limit: Duration) {
        self.silence = silence
        self.limit = limit
    }

    /// For a request: its client has the answer within five seconds.
    package static let request = PostgresPatience(silence: .seconds(4), limit: .seconds(4))

    /// A request whose work may take long: it is given up only when the database answers nobody.
    package var long: PostgresPatience { PostgresPatience(silence: silence, limit: max(limit, .seconds(30))) }

    /// The same while the database is known not to answer.
    var shortened: PostgresPatience {
        let short = min(silence, PostgresHealth.probe)
        return PostgresPatience(silence: short, limit: short)
    }
}

/// Whether a database answers, as all pools that share this see it.
///
/// A caller that waited in vain, while nobody had an answer, tells the others: until somebody has one, tasks with patience
/// are refused at once, but for one each second that tries for a moment. So calls that wait for each other do not add
/// their times up. Loops always try.
package final class PostgresHealth: Sendable {
    /// How long a caller waits for a database that is known not to answer.
    static let probe = Duration.milliseconds(250)

    private let start = ContinuousClock.now
    /// When the last answer came, in nanoseconds since `start`.
    private let lastAnswer = Atomic<Int64>(0)
    private let isSilent = Atomic(false)
    private let lastProbe = Mutex(ContinuousClock.now)

    package init() {}

    /// Something has come from the server.
    func answered() {
        let (seconds, attoseconds) = start.duration(to: .now).components
        lastAnswer.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
        if isSilent.load(ordering: .relaxed) { isSilent.store(false, ordering: .relaxed) }
    }

    /// Changes with every answer.
    var mark: Int64 { lastAnswer.load(ordering: .relaxed) }

    /// When the last answer came, to whichever query.
    var answeredAt: ContinuousClock.Instant { start + .nanoseconds(mark) }

    /// A caller waited in vain.
    ///
    /// - Parameter mark: from when it began.
    func failed(since mark: Int64) {
        if mark == self.mark { isSilent.store(true, ordering: .relaxed) }
    }

    /// What a caller's patience is worth now.
    func patience(_ patience: PostgresPatience?) -> PostgresPatience? {
        isSilent.load(ordering: .relaxed) ? patience?.shortened : patience
    }

    var isAway: Bool { isSilent.load(ordering: .relaxed) }

    /// Whether a task with patience may try though the database is away.
    func mayProbe() -> Bool {
        lastProbe.withLock { last in
            guard last.duration(to: .now) >= .seconds(1) else { return false }
            last = .now
            return true
        }
    }
}
