package import Logging
internal import Synchronization

/// Connections to one database. They are opened when needed and lent to one task at a time, in the order of the calls.
package final class PostgresPool: PostgresQuerying {
    let configuration: PostgresConfiguration
    let logger: Logger
    let connector: Connector
    private let state = Mutex(State())

    private typealias Waiter = CheckedContinuation<Result<PostgresConnection, PostgresError>, Never>

    private struct State {
        /// The most recently used connection is the last one.
        var idle: [PostgresConnection] = []
        var lent = 0
        /// How many of the lent connections each share has.
        var shareUse: [PostgresShare: Int] = [:]
        /// The attempts to open a connection, also those that pause after a failure. They go on even if the callers that
        /// began them have left.
        var attempts = 0
        /// The callers that wait for a connection, in the order of their calls.
        var waiters: [(id: Int, share: PostgresShare?, waiter: Waiter)] = []
        var lastID = 0
        var isClosed = false
        /// Grows each time the pool leaves its server because the server no longer accepts writes. Connections of
        /// earlier generations are not lent again.
        var generation = 0

        var hasOpen: Bool { !idle.isEmpty || lent > 0 }

        /// Takes the waiter with this number out of the line.
        mutating func remove(_ id: Int) -> Waiter? {
            waiters.firstIndex { $0.id == id }.map { waiters.remove(at: $0).waiter }
        }

        /// Whether a caller of this share may have another connection.
        func admits(_ share: PostgresShare?, _ maximumShared: Int) -> Bool {
            guard let share else { return true }
            return shareUse[share, default: 0] < share.maximum && shareUse.values.reduce(0, +) < maximumShared
        }

        mutating func addLent(_ share: PostgresShare?, _ change: Int) {
            lent += change
            if let share { shareUse[share, default: 0] += change }
        }
    }

    /// Opens no connection yet.
    package init(configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        connector = Connector(configuration: configuration)
    }

    /// Runs one query on any connection.
    @discardableResult
    package func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await withConnection { try await $0.query(query) }
    }

    /// Lends a connection to `body`, which must not keep it. After `body`, the connection goes back to the pool or is
    /// closed.
    ///
    /// - Parameter share: the share that the caller belongs to; `nil`: none, so there is no ceiling.
    /// - Throws: the errors of `body`; `connectionFailed` or `poolExhausted` if there is no connection in time
    ///   (`acquireTimeout`, `PostgresTimeLimit`); `poolClosed`; `cancelled`.
    package func withConnection<Value: Sendable>(
        of share: PostgresShare? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let asked = ContinuousClock.now
        let connection = try await PostgresTimeLimit.countingWait { try await acquire(share, since: asked) }
        configuration.onWait?(asked.duration(to: .now))
        defer { release(connection, share) }
        return try await body(connection)
    }

    /// Runs `body` in a transaction, which is committed when `body` returns and rolled back when it throws. BEGIN is
    /// sent with the first query.
    package func transaction<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        try await transaction(body, closing: { _ in [] }) { value, _ in value }
    }

    /// Runs `body` in a transaction whose last statements are known when `body` returns. These statements are sent with
    /// COMMIT in one round trip. If `body` throws, the transaction is rolled back.
    ///
    /// - Parameters:
    ///   - closing: makes the last statements from the result of `body`.
    ///   - value: makes the transaction's result from the result of `body` and the results of the last statements.
    ///     `value` runs after the COMMIT, so the transaction stays committed even if `value` throws.
    package func transaction<Work: Sendable, Value: Sendable>(
        of share: PostgresShare? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresConnection) async throws -> Work,
        closing: (Work) -> [PostgresQuery], _ value: (Work, [PostgresRows]) throws -> Value
    ) async throws -> Value {
        try await withConnection(of: share) { connection in
            connection.beginWithNext()
            let work: Work
            let rows: [PostgresRows]
            do {
                work = try await body(connection)
                if connection.hasFailedTransaction {
                    throw PostgresError(.misuse, "a query of the transaction failed and its error was ignored")
                }
                let last = closing(work)
                rows =
                    last.isEmpty && connection.takeBegin()
                    ? [] : try await connection.pipeline(last + ["commit"], isCancellable: false)
            } catch {
                // If the rollback fails, the connection is closed, and the server rolls back.
                if !connection.takeBegin() { _ = try? await connection.pipeline(["rollback"], isCancellable: false) }
                throw error
            }
            return try value(work, rows)
        }
    }

    /// Accepts no more callers, ends the waits of callers with an error, waits a limited time for lent connections, and
    /// closes all connections. It does not wait for attempts to open a connection. It may be called again.
    package func close() async {
        let (waiters, _) = state.withLock { state in
            state.isClosed = true
            defer { (state.idle, state.waiters) = ([], []) }
            return (state.waiters, state.idle)
        }
        for (_, _, waiter) in waiters { waiter.resume(returning: .failure(Self.closedError)) }
        let deadline = ContinuousClock.now + .seconds(5)
        while state.withLock({ $0.lent > 0 }), ContinuousClock.now < deadline {
            // The sleep is in a separate task, because a sleep in a cancelled task returns at once.
            await Task { try? await Task.sleep(for: .milliseconds(5)) }.value
        }
    }

    /// The numbers of idle connections, and of those that are lent or being opened.
    package var connections: (idle: Int, busy: Int) {
        state.withLock { ($0.idle.count, $0.lent + $0.attempts) }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    var generation: Int { state.withLock { $0.generation } }

    /// Leaves the server of this generation of connections, because it no longer accepts writes. None of these
    /// connections is lent again, and new ones are opened to a host of the connection string that accepts writes.
    func failOver(_ generation: Int) {
        let idle = state.withLock { state -> [PostgresConnection] in
            guard generation == state.generation else { return [] }
            state.generation += 1
            defer { state.idle = [] }
            return state.idle
        }
        guard !idle.isEmpty else { return }
        logger.warning("the database accepts no writes any more; looking for one that does")
    }

    // MARK: Lending

    private func acquire(
        _ share: PostgresShare?, since asked: ContinuousClock.Instant
    ) async throws(PostgresError) -> PostgresConnection {
        let own = PostgresTimeLimit.current
        if configuration.health.isSilent(for: own?.maxSilence) { throw unreached }
        while let connection = state.withLock({ state -> PostgresConnection? in
            guard state.admits(share, configuration.maximumShared), let connection = state.idle.popLast() else {
                return nil
            }
            state.addLent(share, 1)
            return connection
        }) {
            // If the server closed the connection while it was idle, take another one instead of an error.
            if !connection.hasUnexpectedInput { return connection }
            discard(share)
        }

        let end = asked + (own?.rest ?? configuration.acquireTimeout)
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        var timer: Task<Void, any Error>?
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enqueue(id, share, continuation)
                timer = Task { try await self.giveUp(id, at: end, silence: own?.maxSilence) }
                // The task may have been cancelled before the caller began to wait.
                if Task.isCancelled { giveUp(id, Self.cancelledError) }
            }
        } onCancel: {
            giveUp(id, Self.cancelledError)
        }
        timer?.cancel()
        return try result.get()
    }

    /// Puts a caller at the end of the line, and opens a connection if the pool may have another one. The caller gets
    /// the connection that is free first.
    private func enqueue(_ id: Int, _ share: PostgresShare?, _ waiter: Waiter) {
        let (isClosed, opens, free) = state.withLock { state -> (Bool, Bool, PostgresConnection?) in
            guard !state.isClosed else { return (true, false, nil) }
            state.waiters.append((id, share, waiter))
            guard state.admits(share, configuration.maximumShared) else { return (false, false, nil) }
            // A connection may have become idle since the caller found none.
            if let free = state.idle.popLast() {
                state.lent += 1
                return (false, false, free)
            }
            guard state.lent + state.attempts < configuration.maximumConnections else { return (false, false, nil) }
            state.attempts += 1
            return (false, true, nil)
        }
        if isClosed { waiter.resume(returning: .failure(Self.closedError)) }
        if opens { openOne() }
        if let free { free.hasUnexpectedInput ? discard() : release(free) }
    }

    /// Lets a caller that waits give up at `end`, or earlier if the database answers nobody for `silence`.
    private func giveUp(_ id: Int, at end: ContinuousClock.Instant, silence: Duration?) async throws {
        while .now < end, !configuration.health.isSilent(for: silence) {
            try await Task.sleep(until: min(end, .now + PostgresHealth.waitStep), clock: .continuous)
            // The caller may have been served since the sleep ended.
            try Task.checkCancellation()
            configuration.health.noteSilence()
        }
        let isBusy = state.withLock(\.hasOpen) && !configuration.health.isSilent(for: silence)
        giveUp(id, isBusy ? Self.exhaustedError : unreached)
    }

    private func giveUp(_ id: Int, _ error: PostgresError) {
        state.withLock { $0.remove(id) }?.resume(returning: .failure(error))
    }

    /// The pause between attempts to connect, so that a database that is back is found soon but not overloaded.
    static let retryPause = Duration.milliseconds(250)
    private static let cancelledError = PostgresError(
        .cancelled, "the task was cancelled while it waited for a connection")
    private static let closedError = PostgresError(.poolClosed, "the pool was closed")
    private static let exhaustedError = PostgresError(.poolExhausted, "no database connection became free in time")
    private var unreached: PostgresError { configuration.health.unreached }

    /// Opens a connection for the first caller that waits. Repeats failed attempts with pauses while callers wait. An
    /// attempt cannot be stopped. If no caller waits at its end, the connection becomes idle.
    private func openOne() {
        Task.detached { [self] in
            while true {
                do {
                    let connection = try await connector.connect(generation: generation)
                    state.withLock { ($0.attempts, $0.lent) = ($0.attempts - 1, $0.lent + 1) }
                    return release(connection)
                } catch {
                    logger.debug("no connection to the database yet", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: Self.retryPause)
                let goesOn = state.withLock { state in
                    // Only as many attempts are repeated as callers wait.
                    if state.attempts <= state.waiters.count { return true }
                    state.attempts -= 1
                    return false
                }
                guard goesOn else { return }
            }
        }
    }

    private func release(_ connection: PostgresConnection, _ share: PostgresShare? = nil) {
        if configuration.mustWrite, connection.isReadOnly { failOver(connection.generation) }
        guard connection.isReusable, connection.generation == generation else { return discard(share) }
        let waiter = state.withLock { state -> Waiter? in
            state.addLent(share, -1)
            guard let next = state.waiters.firstIndex(where: { state.admits($0.share, configuration.maximumShared) })
            else {
                if !state.isClosed { state.idle.append(connection) }
                return nil
            }
            state.addLent(state.waiters[next].share, 1)
            return state.waiters.remove(at: next).waiter
        }
        waiter?.resume(returning: .success(connection))
    }

    /// Removes a closed connection. If a caller waits, another connection is opened.
    private func discard(_ share: PostgresShare? = nil) {
        let opens = state.withLock { state in
            state.addLent(share, -1)
            guard !state.waiters.isEmpty else { return false }
            state.attempts += 1
            return true
        }
        if opens { openOne() }
    }
}
