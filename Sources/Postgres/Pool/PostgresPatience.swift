internal import Synchronization

/// How long a task waits for the database in all: for connections and answers, one after the other. Its other work, as
/// a call to Apple, does not count. A task has it for all that is done on its behalf, so nobody has to hand it on; a
/// detached task has none. Without one the pool's configuration counts, as it does for loops.
package struct PostgresPatience: Sendable {
    @TaskLocal package static var current: PostgresPatience?

    /// For a database that answers nobody, each time.
    package var silence: Duration
    /// For one that answers others, because it is slow or a lock is in the way: all waits together.
    package var limit: Duration
    private let waited: Waited

    private final class Waited: Sendable {
        let nanoseconds: Atomic<Int64>

        init(_ time: Duration) { nanoseconds = Atomic(Int64(time / .nanoseconds(1))) }
    }

    /// - Parameter waited: how much of `limit` is used up already.
    package init(silence: Duration, limit: Duration, waited: Duration = .zero) {
        self.silence = silence
        self.limit = limit
        self.waited = Waited(waited)
    }

    /// For one request.
    ///
    /// - Parameter wait: with the standard its client has the answer within five seconds: a second and a half is left for
    ///   a statement that is cancelled, and for a machine that is busy.
    package static func request(_ wait: Duration = standardWait) -> PostgresPatience {
        PostgresPatience(silence: wait, limit: wait)
    }

    package static let standardWait = Duration.seconds(3.5)

    /// The same request where its work may take long: it is given up only when the database answers nobody.
    package var long: PostgresPatience {
        var long = self
        long.limit = max(limit, .seconds(30))
        return long
    }

    /// The same for other work.
    ///
    /// - Parameter waited: how much of `limit` is used up already.
    package func renewed(waited: Duration = .zero) -> PostgresPatience {
        PostgresPatience(silence: silence, limit: limit, waited: waited)
    }

    /// Runs `body`, work on behalf of several callers, with the time that a single caller has.
    package static func renewing<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await $current.withValue(current?.renewed()) { try await body() }
    }

    /// How much of `limit` is left. A turn that came late is worth a try.
    package var rest: Duration {
        max(limit - .nanoseconds(waited.nanoseconds.load(ordering: .relaxed)), min(limit, PostgresHealth.probe))
    }

    /// Runs `body`, a wait for the database or for another caller's work with it, and counts its time.
    package static func counting<Value, Failure>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let waited = current?.waited else { return try await body() }
        let began = ContinuousClock.now
        defer {
            waited.nanoseconds.add(Int64(began.duration(to: .now) / .nanoseconds(1)), ordering: .relaxed)
        }
        return try await body()
    }

    /// The same while the database is known not to answer.
    var shortened: PostgresPatience {
        var short = self
        short.silence = min(silence, PostgresHealth.probe)
        short.limit = short.silence
        return short
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
    private let lastRefusal = Mutex<(error: PostgresError, at: ContinuousClock.Instant)?>(nil)
    /// How long the words of an attempt to connect stand for those that were not made after it.
    private static let wordsLast = Duration.seconds(10)

    package init() {}

    /// Something has come from the server.
    func answered() {
        let (seconds, attoseconds) = start.duration(to: .now).components
        lastAnswer.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
        if isSilent.load(ordering: .relaxed) { isSilent.store(false, ordering: .relaxed) }
    }

    /// An attempt to connect failed with these words.
    func refused(_ error: PostgresError) { lastRefusal.withLock { $0 = (error, .now) } }

    /// A connection was made.
    func connected() { lastRefusal.withLock { $0 = nil } }

    /// What callers are told that get no connection: the words of the last attempt, if it failed lately.
    var unreached: PostgresError {
        let last = lastRefusal.withLock { $0 }
        if let last, last.at.duration(to: .now) < Self.wordsLast { return last.error }
        return PostgresError(.connectionFailed, "the database did not answer in time")
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
