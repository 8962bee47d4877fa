internal import CLibPQ
internal import Synchronization

/// A connection for one task at a time. `PostgresPool.withConnection` lends it. It owns one `PGconn`, which only the
/// task that uses the connection passes to libpq (`exclusively`).
package final class PostgresConnection: PostgresQuerying, @unchecked Sendable {
    let pointer: OpaquePointer
    private let configuration: PostgresConfiguration
    private let notices: NoticeBook

    private struct State {
        /// The names of the prepared statements.
        var statements: [Statement: String] = [:]
        /// The number of statements that were ever prepared. A name is never used twice.
        var everPrepared = 0
        var isBusy = false
        /// Whether the next query begins a transaction in the same round trip.
        var isBeginDue = false
        /// Whether the state of the protocol is unknown, so that the connection must not be used again.
        var isSpoiled = false
    }

    private struct Statement: Hashable {
        let sql: String
        let types: [UInt32]
    }

    private let state = Mutex(State())

    /// Identifies the server that the pool used when this connection was opened. The number grows when the pool changes
    /// to another server.
    let generation: Int

    init(_ pointer: OpaquePointer, _ configuration: PostgresConfiguration, generation: Int) {
        self.pointer = pointer
        self.generation = generation
        self.configuration = configuration
        notices = NoticeBook(configuration.onNotices)
        PQsetnonblocking(pointer, 1)
        // libpq would print notices to standard error.
        PQsetNoticeReceiver(
            pointer,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<NoticeBook>.fromOpaque(context).takeUnretainedValue().note(PostgresError(result: result))
            }, Unmanaged.passUnretained(notices).toOpaque())
    }

    deinit {
        notices.handOut()
        SocketLoop.of(socket).forget(socket)
        PQfinish(pointer)
    }

    /// The server's version, e.g. 150018 for 15.18.
    package var serverVersion: Int { Int(PQserverVersion(pointer)) }

    /// The ID of the server process of this connection.
    package var backendPID: Int { Int(PQbackendPID(pointer)) }

    /// Whether the server has reported on this connection that it accepts no writes: it is a standby, or its
    /// transactions are read-only by default. The server reports this state with the answer to a query.
    package var isReadOnly: Bool { isOn("in_hot_standby") || isOn("default_transaction_read_only") }

    private func isOn(_ parameter: String) -> Bool {
        PQparameterStatus(pointer, parameter).map { String(cString: $0) == "on" } ?? false
    }

    /// Runs one query within the time that is left of the task's `PostgresTimeLimit`, or within `queryTimeout` if the
    /// task has none.
    @discardableResult
    package func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await pipeline([query])[0]
    }

    /// Runs several statements separated by semicolons, without parameters (migrations).
    package func script(_ sql: String) async throws {
        let limits = QueryExecution.Waits(end: .now + .seconds(3_600))
        if takeBegin() { try await script("begin", limits) }
        try await script(sql, limits)
    }

    func script(_ sql: String, _ limits: QueryExecution.Waits) async throws(PostgresError) {
        try await exclusively { () async throws(PostgresError) in
            try await perform(limits) { execution throws(PostgresError) in try await self.exchange(sql, &execution) }
        }
    }

    // MARK: For the pool

    var socket: Int32 { PQsocket(pointer) }
    var isBroken: Bool { PQstatus(pointer) != CONNECTION_OK || socket < 0 }
    var errorMessage: String { String(cString: PQerrorMessage(pointer)).oneLine }
    private var isInTransaction: Bool { PQtransactionStatus(pointer) != PQTRANS_IDLE }

    /// Whether the next task may use the connection: nothing is being sent or received, no transaction is open, and there
    /// are not too many prepared statements.
    var isReusable: Bool {
        isReadyForQuery && !isInTransaction
            && state.withLock { !$0.isSpoiled && !$0.isBusy && $0.statements.count <= configuration.statementCacheSize }
    }

    /// Whether data has arrived that answers no query. Such data on an idle connection means that the server has closed
    /// the connection, so the connection must not be used again.
    var hasUnexpectedInput: Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }

    /// Makes the next query begin a transaction.
    func beginWithNext() { state.withLock { $0.isBeginDue = true } }

    /// Ends a transaction whose BEGIN was not sent yet. Returns `false` if the server must end it.
    func takeBegin() -> Bool {
        state.withLock { state in
            defer { state.isBeginDue = false }
            return state.isBeginDue
        }
    }

    /// Whether an error in the transaction was ignored. COMMIT would then roll back and still report success.
    var hasFailedTransaction: Bool { PQtransactionStatus(pointer) == PQTRANS_INERROR }

    /// Runs several queries in one round trip (libpq's pipeline mode). Outside a transaction they are one transaction.
    ///
    /// - Parameter isCancellable: `false`: the queries are run even if the task is cancelled.
    /// - Throws: the first error. Later queries are not executed.
    @discardableResult
    package func pipeline(
        _ queries: [PostgresQuery], isCancellable: Bool = true
    ) async throws(PostgresError) -> [PostgresRows] {
        guard !queries.isEmpty else { return [] }
        return try await exclusively { () async throws(PostgresError) in
            guard !isCancellable || !Task.isCancelled else {
                throw PostgresError(.cancelled, "the task was cancelled before the query was sent")
            }
            guard !state.withLock(\.isSpoiled) else {
                throw PostgresError(.connectionLost, "the connection was given up after an earlier query")
            }
            let limits = limits
            let begins = takeBegin()
            do throws(PostgresError) {
                let results = try await PostgresTimeLimit.countingWait { () async throws(PostgresError) in
                    try await perform(limits, isCancellable: isCancellable) { execution throws(PostgresError) in
                        try await self.exchange(begins ? ["begin"] + queries : queries, &execution)
                    }
                }
                return begins ? Array(results.dropFirst()) : results
            } catch {
                configuration.onFailure?(error)
                throw error
            }
        }
    }

    // MARK: On the wire

    private var limits: QueryExecution.Waits {
        guard let own = PostgresTimeLimit.current else { return .init(end: .now + configuration.queryTimeout) }
        return .init(end: .now + own.rest, silence: own.maxSilence, drain: .milliseconds(500))
    }

    /// Allows one task at a time. A second one is a mistake of the caller and gets an error.
    private func exclusively<Value>(
        _ body: () async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let isFree = state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isFree else {
            throw PostgresError(.misuse, "the connection is being used by another task; use pipeline or the pool")
        }
        defer {
            if !isInTransaction || isBroken { notices.handOut() }
            state.withLock { $0.isBusy = false }
        }
        return try await body()
    }

    /// Whether the server waits for a query, so that the state of the protocol is known.
    private var isReadyForQuery: Bool {
        !isBroken && PQpipelineStatus(pointer) == PQ_PIPELINE_OFF && PQtransactionStatus(pointer) != PQTRANS_ACTIVE
    }

    /// Runs `body`, which sends queries and reads all their results.
    private func perform<Value>(
        _ limits: QueryExecution.Waits, isCancellable: Bool = true,
        _ body: (inout QueryExecution) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        var execution = QueryExecution(self, limits, configuration.health, isCancellable: isCancellable)
        notices.hasWarning = false
        let result: Result<Value, PostgresError>
        var isLost = false
        do throws(PostgresError) {
            result = .success(try await body(&execution))
        } catch {
            result = .failure(error)
            // Behind a pooler, only a refused write shows that the server became a standby.
            isLost = error.kind == .connectionLost || error.sqlState == .readOnlySQLTransaction
        }
        let isUsable = if isReadyForQuery, !isLost { await execution.finishCancel() } else { false }
        if !isUsable { state.withLock { $0.isSpoiled = true } }
        // A COMMIT that waits for a synchronous standby and is cancelled succeeds with a warning. The standby may not
        // have the data, so the caller must not be told that they are safe.
        guard var interruption = execution.interruption else { return try result.get() }
        interruption.isUnreplicated = notices.hasWarning && interruption.kind == .timedOut
        throw interruption
    }

    private func exchange(
        _ queries: [PostgresQuery], _ execution: inout QueryExecution
    ) async throws(PostgresError) -> [PostgresRows] {
        try execution.checkSent(PQenterPipelineMode(pointer))
        var rows: [PostgresRows] = []
        var failure: PostgresError?
        for step in try send(queries, execution) {
            while let result = try await execution.nextResult() {
                switch (try Self.read(result), step) {
                case (.success(let read), .execute): rows.append(read)
                case (.success, _): break
                case (.failure(let error), _):
                    if case .prepare(let statement) = step { state.withLock { $0.statements[statement] = nil } }
                    failure = failure ?? error
                }
                // libpq returns no NULL after the result of a synchronisation point.
                if case .sync = step { break }
            }
        }
        guard PQexitPipelineMode(pointer) == 1 else { throw failure ?? execution.lossError() }
        if let failure { throw failure }
        return rows
    }

    private enum Step {
        case prepare(Statement)
        case execute
        /// The synchronisation point that ends the pipeline.
        case sync
    }

    /// Sends every query, preceded by its preparation if necessary. libpq sends the bytes with the synchronisation
    /// point, or earlier if they are many.
    private func send(_ queries: [PostgresQuery], _ execution: QueryExecution) throws(PostgresError) -> [Step] {
        var steps: [Step] = []
        for query in queries {
            let statement = Statement(sql: query.sql, types: query.bindings.map(\.type.oid))
            let (name, isNew) = state.withLock { state in
                if let known = state.statements[statement] { return (known, false) }
                state.everPrepared += 1
                let name = "g\(state.everPrepared)"
                state.statements[statement] = name
                return (name, true)
            }
            let count = Int32(query.bindings.count)
            if isNew {
                try execution.checkSent(
                    statement.types.withUnsafeBufferPointer {
                        PQsendPrepare(pointer, name, query.sql, count, $0.baseAddress)
                    })
                steps.append(.prepare(statement))
            }
            try execution.checkSent(
                query.withValues { values, lengths, formats in
                    PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 1)
                })
            steps.append(.execute)
        }
        try execution.checkSent(PQpipelineSync(pointer))
        return steps + [.sync]
    }

    private func exchange(_ script: String, _ execution: inout QueryExecution) async throws(PostgresError) {
        try execution.checkSent(PQsendQuery(pointer, script))
        var failure: PostgresError?
        while let result = try await execution.nextResult() {
            if case .failure(let error) = try Self.read(result) { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Converts a result to rows or to its error.
    ///
    /// - Throws: `misuse` for COPY. The server then waits for data or sends them, so the connection is closed.
    private static func read(_ result: OpaquePointer) throws(PostgresError) -> Result<PostgresRows, PostgresError> {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            return .success(PostgresRows(ResultHandle(result)))
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            return .success(PostgresRows(nil))
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            return .failure(PostgresError(.server, "not executed, because an earlier query of the pipeline failed"))
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
            defer { PQclear(result) }
            var error = PostgresError(result: result)
            // A prepared statement that the server no longer knows, or whose result a change of the schema altered, makes the
            // connection useless, too.
            let lost: [PostgresSQLState?] = [.adminShutdown, .crashShutdown, .invalidSQLStatementName, nil]
            if lost.contains(error.sqlState) || error.message.contains("cached plan must not change") {
                error.kind = .connectionLost
            }
            return .failure(error)
        default:
            PQclear(result)
            throw PostgresError(.misuse, "COPY is not for this connection")
        }
    }
}

extension PostgresQuery {
    /// The parameters in libpq's form: values, lengths and formats. All values are binary. libpq copies them while
    /// `body` runs.
    fileprivate func withValues<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        // One byte more, so that even an empty value has an address. libpq reads a value without an address as NULL.
        let all = bindings.reduce(into: [UInt8]()) { $0 += $1.bytes ?? [] } + [0]
        return all.withUnsafeBytes { all in
            var offset = 0
            let values = bindings.map { binding -> UnsafePointer<CChar>? in
                guard let bytes = binding.bytes else { return nil }
                defer { offset += bytes.count }
                return all.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
            }
            let lengths = bindings.map { Int32($0.bytes?.count ?? 0) }
            return body(values, lengths, [Int32](repeating: 1, count: bindings.count))
        }
    }
}
