internal import CLibPQ
internal import Synchronization

/// A connection for one task at a time. `PostgresPool.withConnection` lends it.
package final class PostgresConnection: PostgresQuerying {
    let raw: LibPQConnection
    private let configuration: PostgresConfiguration

    private struct State {
        var statements: StatementCache
        var isBusy = false
        /// Whether the next query begins a transaction in the same round trip.
        var beginsNext = false
        /// Whether the state of the protocol is unknown, so that the connection must not be used again.
        var isSpoiled = false
        /// Whether the server refused a write.
        var refusedToWrite = false
        /// When the present task began to wait for the connection; `nil` after the connection's first use by this task.
        var askedAt: ContinuousClock.Instant?
    }

    private let state: Mutex<State>

    /// Identifies the server that the pool used when this connection was opened. The number grows when the pool changes
    /// to another server.
    let generation: Int

    init(_ raw: LibPQConnection, configuration: PostgresConfiguration, generation: Int = 0) {
        self.raw = raw
        self.generation = generation
        self.configuration = configuration
        state = Mutex(State(statements: StatementCache(capacity: configuration.statementCacheSize)))
    }

    /// The server's version, e.g. 150018 for 15.18.
    package var serverVersion: Int { Int(PQserverVersion(raw.pointer)) }

    /// The ID of the server process of this connection.
    package var backendPID: Int { Int(PQbackendPID(raw.pointer)) }

    /// Whether the server has reported on this connection that it accepts no writes.
    package var isReadOnly: Bool { raw.isReadOnly || state.withLock { $0.refusedToWrite } }

    /// Runs one query within the time that is left of the task's `PostgresTimeLimit`, or within `queryTimeout` if the
    /// task has none.
    @discardableResult
    package func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await run([query])[0]
    }

    /// Runs one query. After the deadline it is cancelled on the server.
    @discardableResult
    package func query(_ query: PostgresQuery, deadline: Duration?) async throws -> PostgresRows {
        try await run([query], timeout: deadline)[0]
    }

    /// Runs several queries in one round trip (libpq's pipeline mode). Outside a transaction they are one transaction.
    ///
    /// - Throws: the first error, with `pipelineIndex`. Later queries are not executed.
    @discardableResult
    package func pipeline(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
        try await run(queries)
    }

    /// Runs several statements separated by semicolons, without parameters (migrations).
    package func script(_ sql: String) async throws {
        try await exclusively { connection throws(PostgresError) in
            if connection.takeBegin() { try await connection.simple("begin") }
            try await connection.simple(sql)
        }
    }

    // MARK: For the pool

    /// Whether the next task may use the connection.
    var isReusable: Bool { raw.isClean && !state.withLock { $0.isSpoiled || $0.isBusy } }

    /// Records that the connection is lent to a task that has waited since `asked`.
    func lend(since asked: ContinuousClock.Instant) { state.withLock { $0.askedAt = asked } }

    /// Makes the next query begin a transaction.
    func beginWithNext() { state.withLock { $0.beginsNext = true } }

    /// Ends a transaction whose BEGIN was not sent yet. Returns `false` if the server must end it.
    func abandonUnbegun() -> Bool { takeBegin() }

    /// Whether an error in the transaction was ignored. COMMIT would then roll back and still report success.
    var hasFailedTransaction: Bool { PQtransactionStatus(raw.pointer) == PQTRANS_INERROR }

    /// Runs the statements that end a transaction, even if the task is cancelled meanwhile.
    func end(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
        try await run(queries, isCancellable: false)
    }

    @discardableResult
    func run(
        _ queries: [PostgresQuery], timeout: Duration? = nil, isCancellable: Bool = true
    ) async throws(PostgresError) -> [PostgresRows] {
        guard !queries.isEmpty else { return [] }
        return try await exclusively { connection throws(PostgresError) in
            guard !isCancellable || !Task.isCancelled else {
                throw PostgresError(.cancelled, "the task was cancelled before the query was sent")
            }
            guard !connection.isSpoiled else {
                throw PostgresError(.connectionLost, "the connection was given up after an earlier query")
            }
            let limits = connection.limits(timeout)
            let begins = connection.takeBegin()
            let all = begins ? ["begin"] + queries : queries
            let results: [PostgresRows]
            do throws(PostgresError) {
                results = try await PostgresTimeLimit.counting { () async throws(PostgresError) in
                    try await connection.attempt(all, limits, isCancellable)
                }
            } catch {
                configuration.onFailure?(error)
                guard begins, let index = error.pipelineIndex else { throw error }
                var shifted = error
                shifted.pipelineIndex = max(0, index - 1)
                throw shifted
            }
            return begins ? Array(results.dropFirst()) : results
        }
    }

    // MARK: On the wire

    private var isSpoiled: Bool { state.withLock { $0.isSpoiled } }

    /// The limit for a silent server counts from the time when the task began to wait for the connection.
    private func limits(_ timeout: Duration?) -> QueryExecution.Limits {
        let now = ContinuousClock.now
        let asked = state.withLock { state in
            defer { state.askedAt = nil }
            return state.askedAt
        }
        let timeLimit = configuration.health.timeLimit(PostgresTimeLimit.current)
        guard let timeLimit else { return QueryExecution.Limits(end: now + (timeout ?? configuration.queryTimeout)) }
        // If the task waited long for the connection, it still gets one short attempt.
        return QueryExecution.Limits(
            end: now + min(timeLimit.rest, timeout ?? timeLimit.rest), silence: timeLimit.silence,
            firstSilence: max(
                (asked ?? now) + timeLimit.silence, now + min(timeLimit.silence, PostgresHealth.probe)))
    }

    private func finish(_ execution: QueryExecution) async {
        if await !execution.finish() { state.withLock { $0.isSpoiled = true } }
    }

    private func takeBegin() -> Bool {
        state.withLock { state in
            defer { state.beginsNext = false }
            return state.beginsNext
        }
    }

    /// Allows one task at a time. A second one is a mistake of the caller and gets an error.
    private func exclusively<Value>(
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let isFree = state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isFree else {
            throw PostgresError(.misuse, "the connection is being used by another task; use pipeline or the pool")
        }
        defer {
            raw.handOutNotices()
            state.withLock { $0.isBusy = false }
        }
        return try await body(self)
    }

    /// Runs the queries. If the server no longer knows a prepared statement, or if a schema change altered a
    /// statement's result, the queries are prepared again and run once more. This is done only outside a transaction,
    /// where the failed attempt had no effect.
    private func attempt(
        _ queries: [PostgresQuery], _ limits: QueryExecution.Limits, _ isCancellable: Bool
    ) async throws(PostgresError) -> [PostgresRows] {
        let wasInTransaction = raw.isInTransaction
        do throws(PostgresError) {
            return try await perform(queries, limits, isCancellable)
        } catch {
            let isStale =
                error.sqlState == .invalidSQLStatementName
                || error.sqlState == .featureNotSupported && error.message.contains("cached plan")
            guard isStale, !wasInTransaction, !raw.isInTransaction else { throw error }
            state.withLock { $0.statements.removeAll() }
            return try await perform(queries, limits, isCancellable)
        }
    }

    private func perform(
        _ queries: [PostgresQuery], _ limits: QueryExecution.Limits, _ isCancellable: Bool
    ) async throws(PostgresError) -> [PostgresRows] {
        var execution = QueryExecution(raw, limits, configuration.health, isCancellable: isCancellable)
        raw.hasWarned = false
        do throws(PostgresError) {
            let rows: [PostgresRows]
            if queries.count == 1, let name = state.withLock({ $0.statements.name(of: .init(queries[0])) }) {
                rows = [try await executeOne(queries[0], name, &execution)]
            } else {
                rows = try await executePipeline(queries, &execution)
            }
            // A COMMIT that waits for a synchronous standby and is cancelled succeeds with a warning. The standby may
            // not have the data, so the caller must not be told that they are safe.
            if let interruption = execution.interruption { throw interruption }
            return rows
        } catch {
            if error.sqlState == .readOnlySQLTransaction { state.withLock { $0.refusedToWrite = true } }
            if !raw.isClean, !raw.isInTransaction || raw.isBroken || PQtransactionStatus(raw.pointer) == PQTRANS_ACTIVE
            {
                state.withLock { $0.isSpoiled = true }
            } else {
                await finish(execution)
            }
            guard var interruption = execution.interruption else { throw error }
            interruption.isUnconfirmed = raw.hasWarned && interruption.kind == .timedOut
            throw interruption
        }
    }

    private func executeOne(
        _ query: PostgresQuery, _ name: String, _ execution: inout QueryExecution
    ) async throws(PostgresError) -> PostgresRows {
        try send(query, name, execution)
        var rows = PostgresRows(nil)
        var failure: PostgresError?
        while let result = try await execution.nextResult() {
            switch Self.read(result) {
            case .success(let read): rows = read
            case .failure(let error) where error.kind == .misuse: throw error
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure { throw failure }
        await finish(execution)
        return rows
    }

    private func executePipeline(
        _ queries: [PostgresQuery], _ execution: inout QueryExecution
    ) async throws(PostgresError) -> [PostgresRows] {
        guard PQenterPipelineMode(raw.pointer) == 1 else { throw execution.lost() }
        let steps = try sendAll(queries, execution)
        guard PQpipelineSync(raw.pointer) == 1 else { throw execution.lost() }

        var rows: [PostgresRows] = []
        var failure: PostgresError?
        for step in steps {
            if case .sync = step {
                // libpq returns no NULL after the result of a synchronisation point.
                if let sync = try await execution.nextResult() { PQclear(sync) }
                continue
            }
            while let result = try await execution.nextResult() {
                switch Self.read(result) {
                case .success(let read):
                    if case .execute = step { rows.append(read) }
                case .failure(let error) where error.kind == .misuse: throw error
                case .failure(var error):
                    // If a statement cannot be deallocated, it is already gone, or will be gone with the connection.
                    if case .deallocate = step { continue }
                    if case .prepare(_, let key) = step { state.withLock { $0.statements.remove(key) } }
                    error.pipelineIndex = step.index
                    failure = failure ?? error
                }
            }
        }
        // The synchronisation point ends the pipeline.
        if let sync = try await execution.nextResult() { PQclear(sync) }
        guard PQexitPipelineMode(raw.pointer) == 1 else { throw execution.lost() }
        if let failure { throw failure }
        await finish(execution)
        return rows
    }

    private enum Step {
        case prepare(Int, StatementCache.Key)
        case execute(Int)
        case deallocate
        /// A synchronisation point between the deallocations and the queries.
        case sync

        var index: Int? {
            switch self {
            case .prepare(let index, _), .execute(let index): index
            case .deallocate, .sync: nil
            }
        }
    }

    /// Adds every query to the pipeline, preceded by its preparation if necessary.
    private func sendAll(_ queries: [PostgresQuery], _ execution: QueryExecution) throws(PostgresError) -> [Step] {
        var steps: [Step] = []
        for name in state.withLock({ $0.statements.evict() }) {
            try sent(PQsendQueryParams(raw.pointer, "deallocate \(name)", 0, nil, nil, nil, nil, 1), execution)
            steps.append(.deallocate)
        }
        // Some commands, CREATE DATABASE and VACUUM among them, must be the first of their pipeline.
        if !steps.isEmpty {
            guard PQpipelineSync(raw.pointer) == 1 else { throw execution.lost() }
            steps.append(.sync)
        }
        for (index, query) in queries.enumerated() {
            let key = StatementCache.Key(query)
            let name: String
            if let known = state.withLock({ $0.statements.name(of: key) }) {
                name = known
            } else {
                name = state.withLock { $0.statements.add(key) }
                let parameters = Parameters(bindings: query.bindings)
                try sent(
                    parameters.withTypes { PQsendPrepare(raw.pointer, name, query.sql, parameters.count, $0) },
                    execution
                )
                steps.append(.prepare(index, key))
            }
            try send(query, name, execution)
            steps.append(.execute(index))
        }
        return steps
    }

    private func send(_ query: PostgresQuery, _ name: String, _ execution: QueryExecution) throws(PostgresError) {
        let parameters = Parameters(bindings: query.bindings)
        let code = parameters.withValues { values, lengths, formats in
            PQsendQueryPrepared(raw.pointer, name, parameters.count, values, lengths, formats, 1)
        }
        try sent(code, execution)
        _ = try execution.flush()
    }

    private func sent(_ code: Int32, _ execution: QueryExecution) throws(PostgresError) {
        guard code == 1 else { throw execution.lost() }
    }

    private func simple(_ sql: String) async throws(PostgresError) {
        let limits = QueryExecution.Limits(end: .now + .seconds(3_600))
        var execution = QueryExecution(raw, limits, configuration.health, isCancellable: true)
        try sent(PQsendQuery(raw.pointer, sql), execution)
        _ = try execution.flush()
        var failure: PostgresError?
        do throws(PostgresError) {
            while let result = try await execution.nextResult() {
                guard case .failure(let error) = Self.read(result) else { continue }
                if error.kind == .misuse { throw error }
                failure = failure ?? error
            }
        } catch {
            state.withLock { $0.isSpoiled = true }
            throw error
        }
        await finish(execution)
        if let failure { throw execution.interruption ?? failure }
    }

    /// Converts a result to rows or to its error.
    private static func read(_ result: OpaquePointer) -> Result<PostgresRows, PostgresError> {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY, PGRES_PIPELINE_SYNC:
            return .success(PostgresRows(ResultHandle(result)))
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            return .failure(PostgresError(.server, "not executed, because an earlier query of the pipeline failed"))
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
            defer { PQclear(result) }
            var error = PostgresError(result: result)
            if error.sqlState == .adminShutdown || error.sqlState == .crashShutdown || error.sqlState == nil {
                error.kind = .connectionLost
            }
            return .failure(error)
        default:
            PQclear(result)
            // The server now waits for data or sends them, so the connection is closed with this error.
            return .failure(PostgresError(.misuse, "COPY is not for this connection"))
        }
    }
}
