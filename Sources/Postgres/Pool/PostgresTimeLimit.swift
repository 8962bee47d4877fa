internal import Synchronization

/// How long a task waits for the database in total, for connections and for answers. The task's other work, such as a
/// call to Apple, does not count. The time limit is a task-local value, so nobody has to pass it on, but a detached
/// task has none. A task without a time limit, such as a background loop, uses the pool's configuration.
package struct PostgresTimeLimit: Sendable {
    @TaskLocal package static var current: PostgresTimeLimit?

    /// The longest single wait while the database answers nobody.
    package var silence: Duration
    /// The longest total wait while the database answers others, because it is slow or a lock is in the way.
    package var limit: Duration
    private let waited: Waited

    private final class Waited: Sendable {
        let nanoseconds: Atomic<Int64>

        init(_ time: Duration) { nanoseconds = Atomic(Int64(time / .nanoseconds(1))) }
    }

    /// - Parameter waited: the part of `limit` that is already used.
    package init(silence: Duration, limit: Duration, waited: Duration = .zero) {
        self.silence = silence
        self.limit = limit
        self.waited = Waited(waited)
    }

    /// The time limit of one request.
    ///
    /// - Parameter wait: with the default, the client has its answer within five seconds, because a second and a half
    ///   remains for cancelling a statement and for a busy machine.
    package static func request(_ wait: Duration = standardWait) -> PostgresTimeLimit {
        PostgresTimeLimit(silence: wait, limit: wait)
    }

    package static let standardWait = Duration.seconds(3.5)

    /// This time limit with a `limit` of at least 30 s, for a request whose work may take long. The request is given up
    /// earlier only if the database answers nobody.
    package var long: PostgresTimeLimit {
        var long = self
        long.limit = max(limit, .seconds(30))
        return long
    }

    /// This time limit for other work, which has the whole `limit` again.
    ///
    /// - Parameter waited: the part of `limit` that is already used.
    package func renewed(waited: Duration = .zero) -> PostgresTimeLimit {
        PostgresTimeLimit(silence: silence, limit: limit, waited: waited)
    }

    /// Runs `body`, which works for several callers, with the whole `limit` of the present caller. The time that this
    /// caller has already waited does not count.
    package static func renewing<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await $current.withValue(current?.renewed()) { try await body() }
    }

    /// The rest of `limit`. It is never zero, so that a caller whose turn comes late still gets one short attempt.
    package var rest: Duration {
        max(limit - .nanoseconds(waited.nanoseconds.load(ordering: .relaxed)), min(limit, PostgresHealth.probe))
    }

    /// Runs `body`, which waits for the database or for another caller's work with the database. The time that `body`
    /// takes counts as waited.
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

    /// This time limit while the database is known to answer nobody: no wait is longer than `PostgresHealth.probe`.
    var shortened: PostgresTimeLimit {
        var short = self
        short.silence = min(silence, PostgresHealth.probe)
        short.limit = short.silence
        return short
    }
}

/// Whether a database answers. All pools that share this value contribute to it.
///
/// If a caller waited in vain while nobody had an answer, the database counts as away until somebody has an answer.
/// Meanwhile, tasks with a time limit are refused at once, except one task a second, which makes a short attempt. So if
/// one call waits for another, their waits do not add up. Tasks without a time limit, such as background loops, always
/// try.
package final class PostgresHealth: Sendable {
    /// How long a caller waits for a database that is known not to answer.
    static let probe = Duration.milliseconds(250)

    private let start = ContinuousClock.now
    /// When the last answer came, in nanoseconds after `start`.
    private let lastAnswer = Atomic<Int64>(0)
    private let isSilent = Atomic(false)
    private let lastProbe = Mutex(ContinuousClock.now)
    private let lastRefusal = Mutex<(error: PostgresError, at: ContinuousClock.Instant)?>(nil)
    /// How long the error of a failed attempt to connect is also used for callers that made no attempt.
    private static let wordsLast = Duration.seconds(10)

    package init() {}

    /// Records an answer of the server.
    func answered() {
        let (seconds, attoseconds) = start.duration(to: .now).components
        lastAnswer.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
        if isSilent.load(ordering: .relaxed) { isSilent.store(false, ordering: .relaxed) }
    }

    /// Records a failed attempt to connect.
    func refused(_ error: PostgresError) { lastRefusal.withLock { $0 = (error, .now) } }

    /// Records a new connection.
    func connected() {
        answered()
        lastRefusal.withLock { $0 = nil }
    }

    /// The error for callers that get no connection: that of the last attempt, if it failed recently.
    var unreached: PostgresError {
        let last = lastRefusal.withLock { $0 }
        if let last, last.at.duration(to: .now) < Self.wordsLast { return last.error }
        return PostgresError(.connectionFailed, "the database did not answer in time")
    }

    /// A value that changes with every answer.
    var mark: Int64 { lastAnswer.load(ordering: .relaxed) }

    /// When the last answer to any query came.
    var answeredAt: ContinuousClock.Instant { start + .nanoseconds(mark) }

    /// Records that a caller waited in vain.
    ///
    /// - Parameter mark: the value of `mark` when the wait began.
    func failed(since mark: Int64) {
        if mark == self.mark { isSilent.store(true, ordering: .relaxed) }
    }

    /// The time limit that a caller has now: shortened while the database counts as away.
    func timeLimit(_ timeLimit: PostgresTimeLimit?) -> PostgresTimeLimit? {
        isSilent.load(ordering: .relaxed) ? timeLimit?.shortened : timeLimit
    }

    var isAway: Bool { isSilent.load(ordering: .relaxed) }

    /// Whether a task with a time limit may try, although the database counts as away.
    func mayProbe() -> Bool {
        lastProbe.withLock { last in
            guard last.duration(to: .now) >= .seconds(1) else { return false }
            last = .now
            return true
        }
    }
}
