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

/// Opens connections, each on a thread of its own while it is being made: looking names up blocks, and only libpq's
/// blocking call goes on to the next host when one does not answer. Queries never wait for it.
struct Connector: Sendable {
    let configuration: PostgresConfiguration
    let logger: Logger

    /// Of a quality of service of their own: those of the default one are Swift's pool, and hosts that are silent would
    /// block them all.
    private static let threads = DispatchQueue(
        label: "grandstand.postgres.connect", qos: .utility, attributes: .concurrent)

    /// - Throws: `connectionFailed` with libpq's words, which never hold the password.
    func connect() async throws(PostgresError) -> LibPQConnection {
        let result = await withCheckedContinuation { continuation in
            connect { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// The same for a caller that may not wait for the end: `done` is called on the attempt's thread.
    func connect(_ done: @escaping @Sendable (Result<LibPQConnection, PostgresError>) -> Void) {
        Self.threads.async { done(connectBlocking()) }
    }

    /// A failed connection. libpq has no code for a server that was reached and takes no writes, only words, which follow
    /// the language of the process; one of several hosts that says so is enough, for the others did not answer either.
    private static func failure(_ message: String) -> PostgresError {
        var error = PostgresError(.connectionFailed, message)
        if message.contains("session is read-only") { error.sqlState = .readOnlySQLTransaction }
        return error
    }

    /// The parameters for libpq: its own defaults wait for hours for a host that vanished without a word. A machine
    /// that lost its power or its network is noticed within `silence` on every connection to it, whether a query waits
    /// for its answer (keepalives) or cannot even be delivered (`tcp_user_timeout`, Linux).
    var parameters: [(keyword: String, value: String)] {
        let attributes = configuration.mustWrite ? "read-write" : configuration.onlyReads ? "prefer-standby" : "any"
        return [
            ("connect_timeout", "\(max(2, configuration.connectTimeout.components.seconds))"),
            ("target_session_attrs", attributes),
            ("keepalives_idle", "\(Self.silence - 3)"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "\(Self.silence * 1_000)"),
            ("dbname", configuration.connectionString),
            ("fallback_application_name", configuration.applicationName), ("client_encoding", "UTF8"),
        ]
    }

    /// Seconds.
    private static let silence = 5

    private func connectBlocking() -> Result<LibPQConnection, PostgresError> {
        // Later keywords win: `dbname` takes a whole connection string (URI or keywords), which may set its own timeout.
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
        var settings = configuration.sessionSettings
        if configuration.onlyReads { settings["default_transaction_read_only"] = "on" }
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard set(name, to: value, on: pointer) else {
                return .failure(PostgresError(.connectionFailed, connection.errorMessage))
            }
        }
        guard !configuration.mustWrite || !connection.isReadOnly else {
            return .failure(Self.failure("session is read-only: the server takes no writes, or is a standby"))
        }
        PQsetnonblocking(pointer, 1)
        return .success(connection)
    }
}

/// Sets one setting for the session, before anybody else uses the connection.
private func set(_ name: String, to value: String, on pointer: OpaquePointer) -> Bool {
    let result = withCStrings([name, value]) { values in
        PQexecParams(pointer, "select pg_catalog.set_config($1, $2, false)", 2, nil, values, nil, nil, 0)
    }
    defer { PQclear(result) }
    return PQresultStatus(result) == PGRES_TUPLES_OK
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
