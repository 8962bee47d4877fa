internal import CLibPQ
private import Dispatch
internal import Logging

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Opens connections. Looking a name up blocks, and libpq does that between its polls, so a thread of its own walks
/// through the handshake; queries never wait for it.
struct Connector: Sendable {
    let configuration: PostgresConfiguration
    let logger: Logger

    private static let threads = DispatchQueue(label: "grandstand.postgres.connect", attributes: .concurrent)

    /// - Throws: `connectionFailed` with libpq's words, within `connectTimeout`.
    func connect() async throws(PostgresError) -> LibPQConnection {
        let result = await withCheckedContinuation { continuation in
            Self.threads.async { continuation.resume(returning: connectBlocking()) }
        }
        return try result.get()
    }

    private func connectBlocking() -> Result<LibPQConnection, PostgresError> {
        guard let pointer = start() else {
            return .failure(PostgresError(.connectionFailed, "libpq has no memory for a connection"))
        }
        let connection = LibPQConnection(pointer, logger: logger)
        let deadline = ContinuousClock.now + configuration.connectTimeout
        var step = PQstatus(pointer) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while true {
            switch step {
            case PGRES_POLLING_OK:
                PQsetnonblocking(pointer, 1)
                return .success(connection)
            case PGRES_POLLING_READING, PGRES_POLLING_WRITING:
                // The socket may be another one after each step: libpq goes through the hosts.
                guard Self.poll(PQsocket(pointer), forRead: step == PGRES_POLLING_READING, until: deadline) else {
                    return .failure(
                        PostgresError(
                            .connectionFailed, "no connection to the database within \(configuration.connectTimeout)"))
                }
                step = PQconnectPoll(pointer)
            default:
                return .failure(PostgresError(.connectionFailed, connection.errorMessage))
            }
        }
    }

    private func start() -> OpaquePointer? {
        // `dbname` with expand_dbname takes a whole connection string: URI or keywords.
        let keywords = ["dbname", "fallback_application_name", "client_encoding"]
        let values = [configuration.connectionString, configuration.applicationName, "UTF8"]
        return withCStrings(keywords) { keywords in
            withCStrings(values) { values in PQconnectStartParams(keywords, values, 1) }
        }
    }

    private static func poll(_ descriptor: Int32, forRead: Bool, until deadline: ContinuousClock.Instant) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(forRead ? POLLIN : POLLOUT), revents: 0)
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return false }
            let milliseconds = left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
            #if canImport(Darwin)
                let count = Darwin.poll(&entry, 1, Int32(clamping: milliseconds))
            #elseif canImport(Glibc)
                let count = Glibc.poll(&entry, 1, Int32(clamping: milliseconds))
            #else
                let count = Musl.poll(&entry, 1, Int32(clamping: milliseconds))
            #endif
            if count > 0 { return true }
            if count < 0, errno != EINTR { return true }
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
