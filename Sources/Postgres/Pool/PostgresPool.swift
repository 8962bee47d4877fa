package import Logging
internal import Synchronization

/// Connections to one database. They are opened when needed and lent to one task at a time, in the order of the calls.
package final class PostgresPool: PostgresQuerying {
    let configuration: PostgresConfiguration
    let logger: Logger
    private let connector: Connector
    private let state = Mutex(PoolState())

    /// Opens no connection yet.
    package init(configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        connector = Connector(configuration: configuration, logger: logger)
    }

    /// Runs one query on any connection.
    @discardableResult
    package func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await withConnection { try await $0.query(query) }
    }

    /// Lends a connection to `body`, which must not keep it. After `body`, the connection goes back to the pool or is
    /// closed.
    ///
    /// - Parameter timeLimit: how long to wait for a database that accepts no connections, instead of `reachTimeout`.
    /// - Throws: the errors of `body`; `connectionFailed` or `poolExhausted` if there is no connection in time
    ///   (`reachTimeout`, `acquireTimeout`); `poolClosed`; `cancelled`.
    package func withConnection<Value: Sendable>(
        within timeLimit: Duration? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let asked = ContinuousClock.now
        let mark = configuration.health.mark
        let connection: PostgresConnection
        do throws(PostgresError) {
            connection = try await PostgresTimeLimit.counting { () async throws(PostgresError) in
                try await acquire(within: timeLimit ?? configuration.reachTimeout, since: asked)
            }
        } catch {
            if error.kind == .connectionFailed || error.kind == .poolExhausted {
                configuration.health.failed(since: mark)
            }
            throw error
        }
        connection.lend(since: asked)
        configuration.onWait?(asked.duration(to: .now))
        do {
            let value = try await body(connection)
            release(connection)
            return value
        } catch {
            release(connection)
            throw error
        }
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
        isolation: isolated (any Actor)? = #isolation, _ body: (PostgresConnection) async throws -> Work,
        closing: (Work) -> [PostgresQuery], _ value: (Work, [PostgresRows]) throws -> Value
    ) async throws -> Value {
        try await withConnection { connection in
            connection.beginWithNext()
            let work: Work
            let rows: [PostgresRows]
            do {
                work = try await body(connection)
                if connection.hasFailedTransaction {
                    throw PostgresError(.misuse, "a query of the transaction failed and its error was ignored")
                }
                let last = closing(work)
                rows = last.isEmpty && connection.abandonUnbegun() ? [] : try await connection.end(last + ["commit"])
            } catch {
                // If the rollback fails, the connection is closed, and the server rolls back.
                if !connection.abandonUnbegun() { _ = try? await connection.end(["rollback"]) }
                throw error
            }
            return try value(work, rows)
        }
    }

    /// Accepts no more callers, ends the waits of callers with an error, waits a limited time for lent connections, and
    /// closes all connections. It does not wait for attempts to open a connection. It may be called again.
    package func close() async {
        let (idle, waiters) = state.withLock { $0.close() }
        _ = idle
        for waiter in waiters {
            waiter.resume(returning: .failure(Self.closed))
        }
        let deadline = ContinuousClock.now + .seconds(5)
        while state.withLock({ $0.lent > $0.attempts }), ContinuousClock.now < deadline {
            // The sleep is in a separate task, because a sleep in a cancelled task returns at once.
            await Task { try? await Task.sleep(for: .milliseconds(5)) }.value
        }
    }

    /// The longest time that a caller waits.
    package var timeLimit: Duration { configuration.acquireTimeout }

    /// The numbers of idle connections, and of those that are lent or being opened.
    package var connections: (idle: Int, busy: Int) { state.withLock { ($0.idleCount, $0.lent) } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    var generation: Int { state.withLock { $0.generation } }

    /// Leaves the server of this generation of connections, because it no longer accepts writes. None of these
    /// connections is lent again, and new ones are opened to a host of the connection string that accepts writes.
    func leave(_ generation: Int) {
        let idle = state.withLock { $0.leave(generation) }
        guard !idle.isEmpty else { return }
        logger.warning("the database accepts no writes any more; looking for one that does")
    }

    // MARK: Lending

    private func acquire(
        within timeLimit: Duration, since asked: ContinuousClock.Instant
    ) async throws(PostgresError) -> PostgresConnection {
        let own = configuration.health.timeLimit(PostgresTimeLimit.current)
        if own != nil, configuration.health.isAway, !configuration.health.mayProbe() { throw unreached }
        let longest = min(configuration.acquireTimeout, own?.rest ?? configuration.acquireTimeout)
        let deadline = asked + longest
        let reached = asked + min(timeLimit, longest, own?.silence ?? timeLimit)
        while true {
            let turn = state.withLock { $0.next(maximum: configuration.maximumConnections) }
            switch turn {
            case .closed: throw Self.closed
            case .idle(let connection):
                // If the server closed the connection while it was idle, take another one instead of an error.
                if !connection.raw.hasUnexpectedInput { return connection }
                discard()
            case .open: return try await open(until: reached)
            case .wait(let id):
                switch try await wait(id, until: deadline, late: Self.exhausted, reached: reached) {
                case .connection(let connection): return connection
                case .open:
                    let late = own != nil && configuration.health.isAway ? PostgresHealth.probe : Self.lastTry
                    return try await open(until: max(reached, min(deadline, .now + late)))
                }
            }
        }
    }

    private func wait(
        _ id: Int, until deadline: ContinuousClock.Instant, late: PostgresError,
        reached: ContinuousClock.Instant? = nil
    ) async throws(PostgresError) -> PoolState.Turn {
        let timer = Task {
            // A waiting caller also gives up when the other callers cannot reach the database.
            var look = reached ?? deadline
            while look < deadline {
                try await Task.sleep(until: look, clock: .continuous)
                if self.state.withLock(\.reachesNothing) { return self.giveUp(id, self.unreached) }
                look = .now + .milliseconds(250)
            }
            try await Task.sleep(until: deadline, clock: .continuous)
            self.giveUp(id, late)
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let missed = state.withLock { $0.await(id, continuation) }
                if let missed { continuation.resume(returning: missed) }
                if Task.isCancelled { giveUp(id, Self.cancelled) }
            }
        } onCancel: {
            giveUp(id, Self.cancelled)
        }
        timer.cancel()
        return try result.get()
    }

    /// The time for the last attempt of a caller that waited for its turn to open a connection, and whose time to reach
    /// the database has passed meanwhile. While the database is known to answer nobody, `PostgresHealth.probe` is used
    /// in place of this.
    private static let lastTry = Duration.seconds(1)

    private static let cancelled = PostgresError(.cancelled, "the task was cancelled while it waited for a connection")
    private static let closed = PostgresError(.poolClosed, "the pool was closed")
    private static let exhausted = PostgresError(.poolExhausted, "no database connection became free in time")
    private var unreached: PostgresError { configuration.health.unreached }

    private func giveUp(_ id: Int, _ error: PostgresError) {
        state.withLock { $0.remove(id, error) }?.resume(returning: .failure(error))
    }

    /// Opens a connection. Repeats failed attempts with pauses until the deadline.
    private func open(until deadline: ContinuousClock.Instant) async throws(PostgresError) -> PostgresConnection {
        var backoff = Backoff()
        var failure: PostgresError?
        while true {
            switch try await attempt(until: deadline, late: failure ?? unreached) {
            case .connection(let connection): return connection
            case .open(let error):
                let reason = error ?? unreached
                let pause = backoff.next()
                guard ContinuousClock.now + pause <= deadline, !Task.isCancelled, !isClosed else {
                    discard()
                    throw Task.isCancelled ? Self.cancelled : reason
                }
                failure = reason
                logger.debug("no connection to the database yet", metadata: ["error": "\(reason)"])
                await self.pause(for: pause)
            }
        }
    }

    /// Makes one attempt to open a connection. The caller leaves at the deadline, when it is cancelled or when the pool
    /// is closed. The attempt itself cannot be stopped. If the caller has left, the attempt keeps its place until it
    /// ends, and its connection goes to the next caller.
    ///
    /// - Throws: if the caller has left. Otherwise the caller gets a connection, or still has the right to open one.
    private func attempt(
        until deadline: ContinuousClock.Instant, late: PostgresError
    ) async throws(PostgresError) -> PoolState.Turn {
        guard !Task.isCancelled, let id = state.withLock({ $0.begin() }) else {
            discard()
            throw Task.isCancelled ? Self.cancelled : Self.closed
        }
        let generation = generation
        connector.connect { [self] result in
            switch result {
            case .success(let raw):
                configuration.health.answered()
                configuration.health.connected()
                let connection = PostgresConnection(raw, configuration: configuration, generation: generation)
                if !ended(id, .connection(connection)) { release(connection) }
            case .failure(let error):
                if !ended(id, .open(after: error)) { discard() }
            }
        }
        return try await wait(id, until: deadline, late: late)
    }

    /// - Returns: whether the caller of the attempt gets its result.
    private func ended(_ id: Int, _ turn: PoolState.Turn) -> Bool {
        let (isTaken, waiter) = state.withLock { $0.end(id, turn) }
        waiter?.resume(returning: .success(turn))
        return isTaken
    }

    /// Pauses. Ends early if the task is cancelled or the pool is closed.
    private func pause(for duration: Duration) async {
        guard let id = state.withLock({ $0.pause() }) else { return }
        _ = try? await wait(id, until: .now + duration, late: unreached)
        state.withLock { $0.resume() }
    }

    private func release(_ connection: PostgresConnection) {
        if configuration.mustWrite, connection.isReadOnly { leave(connection.generation) }
        guard connection.isReusable, connection.generation == generation else { return discard() }
        state.withLock { $0.release(connection) }?.resume(returning: .success(.connection(connection)))
    }

    /// Removes a closed connection, so that the first waiter may open another.
    private func discard() {
        state.withLock { $0.discard() }?.resume(returning: .success(.open()))
    }
}
