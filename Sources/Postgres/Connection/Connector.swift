internal import CLibPQ
private import Dispatch

/// Opens connections. Each attempt has its own thread, for two reasons: resolving names blocks, and only libpq's
/// blocking call tries the next host when a host does not answer. Queries never wait for an attempt to connect.
struct Connector: Sendable {
    let configuration: PostgresConfiguration

    /// - Parameter generation: the pool's, when the attempt begins.
    /// - Throws: `connectionFailed` with libpq's message, which never contains the password.
    func connect(generation: Int = 0) async throws(PostgresError) -> PostgresConnection {
        do throws(PostgresError) {
            let connection = await withCheckedContinuation { continuation in
                // A serial queue gets its own thread. A concurrent queue has only as many threads as there are cores,
                // and silent hosts would block all of these threads.
                DispatchQueue(label: "grandstand.postgres.connect", qos: .utility).async {
                    continuation.resume(returning: connectBlocking(generation))
                }
            }
            guard let connection else { throw Self.failure("libpq has no memory for a connection") }
            guard !connection.isBroken else { throw Self.failure(connection.errorMessage) }
            try await configure(connection)
            guard !configuration.mustWrite || !connection.isReadOnly else {
                throw Self.failure("session is read-only: the server accepts no writes, or is a standby")
            }
            configuration.health.noteConnected()
            return connection
        } catch {
            configuration.health.noteFailure(error)
            configuration.onFailure?(error)
            throw error
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
    /// these parameters, every connection notices within `silenceLimit` that the server's machine has lost power or
    /// network. Keepalives notice the loss while a query waits for its answer, and `tcp_user_timeout` (Linux) notices
    /// the loss while a query cannot be sent.
    var parameters: [(keyword: String, value: String)] {
        [
            // The seconds for each host of the connection string, unless the string says otherwise. They are few,
            // because libpq tries the next host only when they are over.
            ("connect_timeout", "3"),
            ("target_session_attrs", configuration.mustWrite ? "read-write" : "any"),
            ("keepalives_idle", "\(Self.silenceLimit - 3)"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "\(Self.silenceLimit * 1_000)"),
            ("dbname", configuration.connectionString),
            ("fallback_application_name", "grandstand"), ("client_encoding", "UTF8"),
        ]
    }

    /// The seconds of silence after which a connection counts as lost.
    private static let silenceLimit = 5

    private func connectBlocking(_ generation: Int) -> PostgresConnection? {
        // If a keyword occurs twice, the last one counts. `dbname` may be a whole connection string (URI or keywords),
        // which may set its own timeout.
        let parameters = parameters
        return withCStrings(parameters.map(\.keyword)[...]) { keywords in
            withCStrings(parameters.map(\.value)[...]) { values in PQconnectdbParams(keywords, values, 1) }
        }.map { PostgresConnection($0, configuration, generation: generation) }
    }

    /// Applies the session's settings in one round trip and within `silenceLimit`. libpq limits only the time to
    /// connect, and would wait forever for a server that freezes after the connection is made. The statement is not
    /// prepared, because a connection pooler may lend one session to several clients.
    private func configure(_ connection: PostgresConnection) async throws(PostgresError) {
        var settings = configuration.sessionSettings
        let version = connection.serverVersion
        if version >= 150_000 { settings.merge(Self.sessionDefaults) { own, _ in own } }
        if version >= 170_000 { settings.merge(["transaction_timeout": "0"]) { own, _ in own } }
        guard !settings.isEmpty else { return }
        let calls = settings.sorted { $0.key < $1.key }.map { name, value in
            "pg_catalog.set_config(\(Self.literal(name)), \(Self.literal(value)), false)"
        }
        do throws(PostgresError) {
            try await connection.script(
                "select " + calls.joined(separator: ", "), .init(end: .now + .seconds(Self.silenceLimit), drain: .zero))
        } catch {
            throw Self.failure(error.message)
        }
    }

    private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    /// Makes the server notice within seconds that this client is gone. The server then ends the client's statement,
    /// even one that waits for a lock, so that it blocks nobody.
    ///
    /// The time limits of a role or database are off: pools keep idle sessions, and every query has its own deadline.
    /// The statements are written for PostgreSQL's own isolation level, at which none fails because of another.
    private static let sessionDefaults = [
        "client_connection_check_interval": "2s", "tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2",
        "tcp_keepalives_count": "3", "tcp_user_timeout": "10s", "idle_session_timeout": "0", "statement_timeout": "0",
        "lock_timeout": "0", "default_transaction_isolation": "read committed",
    ]
}

/// Calls `body` with these C strings, preceded by `pointers`, as an array that ends with NULL.
private func withCStrings<Result>(
    _ strings: ArraySlice<String>, after pointers: [UnsafePointer<CChar>?] = [],
    _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
    guard let first = strings.first else { return body(pointers + [nil]) }
    return first.withCString { withCStrings(strings.dropFirst(), after: pointers + [$0], body) }
}
