internal import CLibPQ
internal import Synchronization

/// One connection, for one task at a time; `PostgresPool.withConnection` lends it.
package final class PostgresConnection: PostgresQuerying {
    let raw: LibPQConnection
    private let configuration: PostgresConfiguration

    private struct State {
        var statements: StatementCache
        var isBusy = false
        /// A transaction begins with the next query, in the same round trip.
        var beginsNext = false
        /// The state of the protocol is not known any more: the connection must not be used again.
        var isSpoiled = false
        /// The server refused to write.
        var refusedToWrite = false
        /// When its task began to wait for the connection, until that had its first answer.
        var askedAt: ContinuousClock.Instant?
    }

    private let state: Mutex<State>

    /// Which of the pool's servers it is to: a later one took that one's place.
    let generation: Int

    init(_ raw: LibPQConnection, configuration: PostgresConfiguration, generation: Int = 0) {
        self.raw = raw
        self.generation = generation
        self.configuration = configuration
        state = Mutex(State(statements: StatementCache(capacity: configuration.statementCacheSize)))
    }

    /// The server's version, e.g. 150018 for 15.18.
    package var serverVersion: Int { Int(PQserverVersion(raw.pointer)) }

    /// The server process that serves this connection.
    package var backendPID: Int { Int(PQbackendPID(raw.pointer)) }

    /// Whether the server takes no writes, as far as it has said so on this connection.
    package var isReadOnly: Bool { raw.isReadOnly || state.withLock { $0.refusedToWrite } }

    /// The executor of the loop that waits for this connection. A task that prefers this executor gets its answers
    /// without waking another thread; what it does between two queries holds others' answers up, so it must be short.
    package var taskExecutor: any TaskExecutor { SocketLoop.of(raw.socket) }

    /// Runs one query within what is left of the task's `PostgresPatience`, without one within `queryTimeout`.
    @discardableResult
    package func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await run([query])[0]
    }

    /// Runs one query; past its deadline it is cancelled at the server.
    @discardableResult
    package func query(_ query: PostgresQuery, deadline: Duration?) async throws -> PostgresRows {
        try await run([query], timeout: deadline)[0]
    }

    /// Runs several queries in one round trip (libpq's pipeline mode). Outside a transaction they are one.
    ///
    /// - Throws: the first error, with `pipelineIndex`; later queries are not carried out.
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

    /// Whether the next task may have it.
    var isReusable: Bool { raw.isClean && !state.withLock { $0.isSpoiled || $0.isBusy } }

    /// It is lent to this task, which has waited since then.
    func lend(since asked: ContinuousClock.Instant) { state.withLock { $0.askedAt = asked } }

    /// The next query begins a transaction.
    func beginWithNext() { state.withLock { $0.beginsNext = true } }

    /// Ends a transaction that no query has begun; `false` when there is one to end at the server.
    func abandonUnbegun() -> Bool { takeBegin() }

    /// Whether an error in the transaction was ignored: COMMIT would roll back and call that success.
    var hasFailedTransaction: Bool { PQtransactionStatus(raw.pointer) == PQTRANS_INERROR }

    /// Runs the statements that end a transaction, whatever becomes of the task meanwhile.
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
                results = try await PostgresPatience.counting { () async throws(PostgresError) in
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

    /// A silent server is waited for from when the task began to wait for the connection.
    private func limits(_ timeout: Duration?) -> QueryExecution.Limits {
        let now = ContinuousClock.now
        let asked = state.withLock { state in
            defer { state.askedAt = nil }
            return state.askedAt
        }
        let patience = configuration.health.patience(PostgresPatience.current)
        guard let patience else { return QueryExecution.Limits(end: now + (timeout ?? configuration.queryTimeout)) }
        // A turn that came late is worth a try.
        return QueryExecution.Limits(
            end: now + min(patience.rest, timeout ?? patience.rest), silence: patience.silence,
            firstSilence: max(
                (asked ?? now) + patience.silence, now + min(patience.silence, PostgresHealth.probe)))
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

    /// One task at a time; a second one is the caller's mistake, and told so.
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

    /// Prepared statements the server no longer knows, or whose result changed with the schema, are prepared again,
    /// once, where that repeats nothing.
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
            // A COMMIT that waits for a synchronous standby and is cancelled succeeds, with a warning: the standby may
            // not have it, and no caller may be told that it cannot be lost.
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
                // Its result stands alone: no end of results follows.
                if let sync = try await execution.nextResult() { PQclear(sync) }
                continue
            }
            while let result = try await execution.nextResult() {
                switch Self.read(result) {
                case .success(let read):
                    if case .execute = step { rows.append(read) }
                case .failure(let error) where error.kind == .misuse: throw error
                case .failure(var error):
                    // A statement that cannot be deallocated is gone already, or goes with the connection.
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

    /// Puts every query into the pipeline, each preceded by its preparation where that is needed.
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

    /// Takes a result over: as rows, or as the error it is.
    private static func read(_ result: OpaquePointer) -> Result<PostgresRows, PostgresError> {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY, PGRES_PIPELINE_SYNC:
            return .success(PostgresRows(ResultHandle(result)))
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            return .failure(PostgresError(.server, "not carried out, for an earlier query of the pipeline failed"))
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
            defer { PQclear(result) }
            var error = PostgresError(result: result)
            if error.sqlState == .adminShutdown || error.sqlState == .crashShutdown || error.sqlState == nil {
                error.kind = .connectionLost
            }
            return .failure(error)
        default:
            PQclear(result)
            // The server waits for data now, or sends it: the connection is closed with the error.
            return .failure(PostgresError(.misuse, "COPY is not for this connection"))
        }
    }
}
