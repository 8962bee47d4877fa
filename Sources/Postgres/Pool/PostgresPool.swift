package import Logging
internal import Synchronization

/// Connections to one database, opened on demand, lent to one task at a time in the order of asking.
package final class PostgresPool: PostgresQuerying {
    let configuration: PostgresConfiguration
    let logger: Logger
    private let connector: Connector
    private let state = Mutex(PoolState())

    /// Opens nothing yet.
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

    /// Lends a connection to `body`, which must not keep it. It goes back when `body` ends, clean or closed.
    ///
    /// - Throws: what `body` throws; `connectionFailed`, `poolExhausted` when none is to be had within
    ///   `acquireTimeout`; `poolClosed`; `cancelled`.
    package func withConnection<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let asked = configuration.onWait.map { _ in ContinuousClock.now }
        let connection = try await acquire()
        if let asked { configuration.onWait?(asked.duration(to: .now)) }
        do {
            let value = try await body(connection)
            release(connection)
            return value
        } catch {
            release(connection)
            throw error
        }
    }

    /// Runs `body` in a transaction: it commits when `body` returns and rolls back when it throws. BEGIN travels with
    /// the first query.
    package func transaction<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        try await transaction(body, closing: { _ in [] }) { value, _ in value }
    }

    /// The same for a transaction whose last statements are known when `body` returns: they and COMMIT are one round
    /// trip.
    ///
    /// - Parameters:
    ///   - closing: those statements, from what `body` returned.
    ///   - value: the transaction's result, from that and their results. It is committed then, also when this throws.
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
                // A rollback that fails leaves a connection that is closed; the server rolls back then.
                if !connection.abandonUnbegun() { _ = try? await connection.end(["rollback"]) }
                throw error
            }
            return try value(work, rows)
        }
    }

    /// Takes no more callers, waits a bounded time for lent connections, closes all. Idempotent.
    package func close() async {
        let (idle, waiters) = state.withLock { $0.close() }
        _ = idle
        for waiter in waiters {
            waiter.resume(returning: .failure(PostgresError(.poolClosed, "the pool was closed")))
        }
        let deadline = ContinuousClock.now + .seconds(5)
        while state.withLock({ $0.lent > 0 }), ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Idle connections, and those that are lent or being opened.
    package var connections: (idle: Int, busy: Int) { state.withLock { ($0.idleCount, $0.lent) } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    var generation: Int { state.withLock { $0.generation } }

    /// The server of these connections takes no writes any more: none of them is lent again, and the next are opened to
    /// whichever host of the connection string takes them.
    func leave(_ generation: Int) {
        let idle = state.withLock { $0.leave(generation) }
        guard !idle.isEmpty else { return }
        logger.warning("the database takes no writes any more; looking for one that does")
    }

    // MARK: Lending

    private func acquire() async throws(PostgresError) -> PostgresConnection {
        let deadline = ContinuousClock.now + configuration.acquireTimeout
        while true {
            let turn = state.withLock { $0.next(maximum: configuration.maximumConnections) }
            switch turn {
            case .closed: throw PostgresError(.poolClosed, "the pool was closed")
            case .idle(let connection):
                // One the server has closed while it was idle is not worth a caller's error.
                if !connection.raw.hasUnexpectedInput { return connection }
                discard()
            case .open: return try await open(until: deadline)
            case .wait(let id):
                switch try await wait(id, until: deadline) {
                case .connection(let connection): return connection
                case .open: return try await open(until: deadline)
                }
            }
        }
    }

    private func wait(_ id: Int, until deadline: ContinuousClock.Instant) async throws(PostgresError) -> PoolState.Turn
    {
        let timer = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            self.giveUp(id, PostgresError(.poolExhausted, "no database connection became free in time"))
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

    private static let cancelled = PostgresError(.cancelled, "the task was cancelled while it waited for a connection")

    private func giveUp(_ id: Int, _ error: PostgresError) {
        state.withLock { $0.remove(id) }?.resume(returning: .failure(error))
    }

    /// Opens a connection, again and again with back-off while time remains.
    private func open(until deadline: ContinuousClock.Instant) async throws(PostgresError) -> PostgresConnection {
        var backoff = Backoff()
        while true {
            let generation = generation
            do throws(PostgresError) {
                let raw = try await connector.connect()
                if isClosed { throw PostgresError(.poolClosed, "the pool was closed") }
                return PostgresConnection(raw, configuration: configuration, generation: generation)
            } catch {
                let pause = backoff.next()
                let isLate = ContinuousClock.now + pause > deadline
                if error.kind == .poolClosed || isLate || Task.isCancelled || isClosed {
                    discard()
                    throw Task.isCancelled ? Self.cancelled : error
                }
                logger.debug("no connection to the database yet", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: pause)
            }
        }
    }

    private func release(_ connection: PostgresConnection) {
        if configuration.mustWrite, connection.isReadOnly { leave(connection.generation) }
        guard connection.isReusable, connection.generation == generation else { return discard() }
        state.withLock { $0.release(connection) }?.resume(returning: .success(.connection(connection)))
    }

    /// A connection is closed: the first waiter may open another.
    private func discard() {
        state.withLock { $0.discard() }?.resume(returning: .success(.open))
    }
}
