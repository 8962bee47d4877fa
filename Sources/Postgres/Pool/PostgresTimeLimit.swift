internal import Synchronization

/// How long a task waits for the database in total, for connections and for answers. The task's other work, such as a
/// call to Apple, does not count. The time limit is a task-local value, so nobody has to pass it on, but a detached
/// task has none. A task without a time limit, such as a background loop, uses the pool's configuration.
package struct PostgresTimeLimit: Sendable {
    @TaskLocal package static var current: PostgresTimeLimit?

    /// No wait goes on when the database has answered nobody for so long.
    package var maxSilence: Duration
    /// The longest total wait while the database answers others, because it is slow or a lock is in the way.
    package var maxWait: Duration
    private let waited: Waited

    private final class Waited: Sendable {
        let nanoseconds: Atomic<Int64>

        init(_ time: Duration) { nanoseconds = Atomic(Int64(time / .nanoseconds(1))) }
    }

    /// - Parameter waited: the part of `maxWait` that is already used.
    package init(maxSilence: Duration, maxWait: Duration, waited: Duration = .zero) {
        self.maxSilence = maxSilence
        self.maxWait = maxWait
        self.waited = Waited(waited)
    }

    /// The time limit of one request.
    ///
    /// - Parameter wait: with the default, the client has its answer within five seconds, because a second and a half
    ///   remains for cancelling a statement and for a busy machine.
    package static func forRequest(_ wait: Duration = standardWait) -> PostgresTimeLimit {
        PostgresTimeLimit(maxSilence: wait, maxWait: wait)
    }

    package static let standardWait = Duration.seconds(3.5)

    /// This time limit with a `maxWait` of at least 30 s, for a request whose work may take long. The request is given
    /// up earlier only if the database answers nobody.
    package var long: PostgresTimeLimit {
        var long = self
        long.maxWait = max(maxWait, .seconds(30))
        return long
    }

    /// This time limit for other work, which has the whole `maxWait` again.
    ///
    /// - Parameter waited: the part of `maxWait` that is already used.
    package func renewed(waited: Duration = .zero) -> PostgresTimeLimit {
        PostgresTimeLimit(maxSilence: maxSilence, maxWait: maxWait, waited: waited)
    }

    /// Runs `body`, which works for several callers, with the whole `maxWait` of the present caller. The time that this
    /// caller has already waited does not count.
    package static func renewing<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await $current.withValue(current?.renewed()) { try await body() }
    }

    /// The rest of `maxWait`. It is never zero, so that a caller whose turn comes late still gets one short attempt.
    package var rest: Duration {
        max(maxWait - .nanoseconds(waited.nanoseconds.load(ordering: .relaxed)), min(maxWait, PostgresHealth.waitStep))
    }

    /// Runs `body`, which waits for the database or for another caller's work with the database. The time that `body`
    /// takes counts as waited.
    package static func countingWait<Value, Failure>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let waited = current?.waited else { return try await body() }
        let began = ContinuousClock.now
        defer {
            waited.nanoseconds.add(Int64(began.duration(to: .now) / .nanoseconds(1)), ordering: .relaxed)
        }
        return try await body()
    }
}

/// Knows for how long a database has answered nobody. All pools of a database share it.
///
/// When a caller with a time limit finds the database silent for longer than its limit allows, it stops waiting, and its
/// next wait is refused at once. So if one call waits for another, their waits do not add up. Tasks without a time limit,
/// such as loops and the check of each second, always try, and their first answer ends the silence. A statement that
/// waits for a lock makes no silence, because the check is answered meanwhile.
package final class PostgresHealth: Sendable {
    /// The time between two looks of a caller that waits. A caller whose turn comes late gets one attempt of this length.
    static let waitStep = Duration.milliseconds(250)

    private let start = ContinuousClock.now
    /// When a caller first looked in vain after the last answer, in nanoseconds after `start`; 0: none did.
    private let silentSince = Atomic<Int64>(0)
    private let lastFailure = Mutex<(error: PostgresError, at: ContinuousClock.Instant)?>(nil)
    /// How long the error of a failed attempt to connect is also used for callers that made no attempt.
    private static let errorLifetime = Duration.seconds(10)

    package init() {}

    private var elapsed: Int64 { Int64(start.duration(to: .now) / .nanoseconds(1)) }

    /// Records an answer of the server.
    func noteAnswer() { if silentSince.load(ordering: .relaxed) != 0 { silentSince.store(0, ordering: .relaxed) } }

    /// Records that a caller has waited for `waitStep` and has no answer yet.
    func noteSilence() { _ = silentSince.compareExchange(expected: 0, desired: elapsed, ordering: .relaxed) }

    /// Whether nobody has had an answer for `time`; `nil`: for ever.
    func isSilent(for time: Duration?) -> Bool {
        let since = silentSince.load(ordering: .relaxed)
        return time.map { since != 0 && .nanoseconds(elapsed - since) >= $0 } ?? false
    }

    /// Records a failed attempt to connect.
    func noteFailure(_ error: PostgresError) { lastFailure.withLock { $0 = (error, .now) } }

    /// Records a new connection.
    func noteConnected() {
        noteAnswer()
        lastFailure.withLock { $0 = nil }
    }

    /// The error for callers that get no connection: that of the last attempt, if it failed recently.
    var unreached: PostgresError {
        let last = lastFailure.withLock { $0 }
        if let last, last.at.duration(to: .now) < Self.errorLifetime { return last.error }
        return PostgresError(.connectionFailed, "the database did not answer in time")
    }
}
