internal import CLibPQ
private import Dispatch
internal import Logging

#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// Opens connections. Each attempt has its own thread, for two reasons: resolving names blocks, and only libpq's
/// blocking call tries the next host when a host does not answer. Queries never wait for an attempt to connect.
struct Connector: Sendable {
    let configuration: PostgresConfiguration
    let logger: Logger

    /// - Throws: `connectionFailed` with libpq's message, which never contains the password.
    func connect() async throws(PostgresError) -> LibPQConnection {
        let result = await withCheckedContinuation { continuation in
            connect { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Opens a connection like `connect()`, for a caller that does not wait. `done` is called on the thread of the
    /// attempt.
    func connect(_ done: @escaping @Sendable (Result<LibPQConnection, PostgresError>) -> Void) {
        // A serial queue gets its own thread. A concurrent queue has only as many threads as there are cores, and
        // silent hosts would block all of these threads.
        DispatchQueue(label: "grandstand.postgres.connect", qos: .utility).async {
            let result = connectBlocking()
            if case .failure(let error) = result {
                configuration.health.refused(error)
                configuration.onFailure?(error)
            }
            done(result)
        }
    }

    /// The error for a failed connection. libpq has no code for a server that was reached but accepts no writes, only a
    /// message in the language of the process. With several hosts, one such message decides the code, because no other
    /// host gave a connection either.
    private static func failure(_ message: String) -> PostgresError {
        var error = PostgresError(.connectionFailed, message)
        if message.contains("session is read-only") { error.sqlState = .readOnlySQLTransaction }
        return error
    }

    /// The parameters for libpq. With libpq's own defaults, a query waits for hours for a host that disappeared. With
    /// these parameters, every connection notices within `silence` that the server's machine has lost power or network.
    /// Keepalives notice the loss while a query waits for its answer, and `tcp_user_timeout` (Linux) notices the loss
    /// while a query cannot be sent.
    var parameters: [(keyword: String, value: String)] {
        [
            ("connect_timeout", "\(max(2, configuration.connectTimeout.components.seconds))"),
            ("target_session_attrs", configuration.mustWrite ? "read-write" : "any"),
            ("keepalives_idle", "\(Self.silence - 3)"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "\(Self.silence * 1_000)"),
            ("dbname", configuration.connectionString),
            ("fallback_application_name", configuration.applicationName), ("client_encoding", "UTF8"),
        ]
    }

    /// The seconds of silence after which a connection counts as lost.
    private static let silence = 5

    private func connectBlocking() -> Result<LibPQConnection, PostgresError> {
        // If a keyword occurs twice, the last one counts. `dbname` may be a whole connection string (URI or keywords),
        // which may set its own timeout.
        let parameters = parameters
        let pointer = withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in PQconnectdbParams(keywords, values, 1) }
        }
        guard let pointer else {
            return .failure(PostgresError(.connectionFailed, "libpq has no memory for a connection"))
        }
        let connection = LibPQConnection(pointer, notices: configuration.notices, logger: logger)
        guard !connection.isBroken else {
            return .failure(Self.failure(connection.errorMessage))
        }
        if let fault = prepare(connection) { return .failure(fault) }
        guard !configuration.mustWrite || !connection.isReadOnly else {
            return .failure(Self.failure("session is read-only: the server accepts no writes, or is a standby"))
        }
        return .success(connection)
    }

    /// Applies the session's settings in one round trip and within `silence`. libpq limits only the time to connect,
    /// and would wait forever for a server that freezes after the connection is made.
    ///
    /// - Returns: the error; `nil`: the settings were applied.
    private func prepare(_ connection: LibPQConnection) -> PostgresError? {
        PQsetnonblocking(connection.pointer, 1)
        var settings = configuration.sessionSettings
        let version = PQserverVersion(connection.pointer)
        if version >= 150_000 { settings.merge(Self.clientSettings) { own, _ in own } }
        if version >= 170_000 { settings.merge(["transaction_timeout": "0"]) { own, _ in own } }
        let ordered = settings.sorted { $0.key < $1.key }
        guard !ordered.isEmpty else { return nil }
        let sql =
            "select "
            + ordered.indices.map { "pg_catalog.set_config($\(2 * $0 + 1), $\(2 * $0 + 2), false)" }
            .joined(separator: ", ")
        let isSent = withCStrings(ordered.flatMap { [$0.key, $0.value] }) { values in
            PQsendQueryParams(connection.pointer, sql, Int32(2 * ordered.count), nil, values, nil, nil, 0)
        }
        guard isSent == 1 else { return PostgresError(.connectionFailed, connection.errorMessage) }
        return connection.isDone(within: .seconds(Self.silence))
            ? nil : PostgresError(.connectionFailed, connection.errorMessage)
    }

    /// Makes the server notice within seconds that this client is gone. The server then ends the client's statement,
    /// even one that waits for a lock, so that it blocks nobody.
    ///
    /// The time limits of a role or database are off: pools keep idle sessions, and every query has its own deadline.
    /// The statements are written for PostgreSQL's own isolation level, at which none fails because of another.
    private static let clientSettings = [
        "client_connection_check_interval": "2s", "tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2",
        "tcp_keepalives_count": "3", "tcp_user_timeout": "10s", "idle_session_timeout": "0", "statement_timeout": "0",
        "lock_timeout": "0", "default_transaction_isolation": "read committed",
    ]
}

extension LibPQConnection {
    /// Sends all pending data and waits for the end of the one query.
    ///
    /// - Returns: whether the query succeeded within `limit`.
    fileprivate func isDone(within limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        while true {
            let flushed = PQflush(pointer)
            guard flushed >= 0 else { return false }
            if PQisBusy(pointer) == 0 {
                guard let result = PQgetResult(pointer) else { return true }
                defer { PQclear(result) }
                guard PQresultStatus(result) == PGRES_TUPLES_OK else { return false }
                continue
            }
            let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            guard left > 0 else { return false }
            var entry = pollfd(fd: socket, events: Int16(flushed == 0 ? POLLIN : POLLIN | POLLOUT), revents: 0)
            guard poll(&entry, 1, Int32(left.rounded(.up))) >= 0 || errno == EINTR, PQconsumeInput(pointer) == 1 else {
                return false
            }
        }
    }
}

/// Calls `body` with a NULL-terminated array of C strings.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result?
) -> Result? {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
    return pointers.withUnsafeBufferPointer { buffer in buffer.baseAddress.flatMap(body) }
}
