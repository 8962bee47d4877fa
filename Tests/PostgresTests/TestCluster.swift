internal import EmbeddedPostgres
internal import FoundationEssentials
internal import Logging
internal import Postgres

/// A real server for the tests of this target. It is started when first needed, and stopped with the process.
enum TestCluster {
    private static let started = Task {
        let cluster = PostgresCluster(directory: temporaryDirectory("shared"), logger: quiet, durable: false)
        return (cluster, try await cluster.start())
    }

    /// libpq's connection string of the shared server.
    static func connectionString() async throws -> String { try await started.value.1 }

    /// A pool on the shared server.
    static func pool(
        maximumConnections: Int = 4, _ change: (inout PostgresConfiguration) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> PostgresPool {
        var configuration = PostgresConfiguration(connectionString: try await connectionString())
        configuration.maximumConnections = maximumConnections
        configuration.acquireTimeout = .seconds(600)
        change(&configuration)
        return PostgresPool(configuration: configuration, logger: quiet)
    }

    /// Runs `body` with a pool on the shared server, and closes the pool.
    static func with(
        _ maximumConnections: Int = 4, _ change: (inout PostgresConfiguration) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: (PostgresPool) async throws -> Void
    ) async throws {
        let pool = try await pool(maximumConnections: maximumConnections, change)
        try await body(pool)
        await pool.close()
    }

    /// Runs `body` with the only connection of a pool on the shared server.
    static func withConnection(
        _ change: (inout PostgresConfiguration) -> Void = { _ in }, isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresConnection) async throws -> Void
    ) async throws { try await with(1, change) { try await $0.withConnection { try await body($0) } } }

    /// A separate server for one test, to be stopped and started.
    ///
    /// - Parameter tcpPort: `nil`: the server is reachable only through its socket.
    static func own(tcpPort: Int? = nil) -> PostgresCluster {
        PostgresCluster(directory: temporaryDirectory("own"), logger: quiet, durable: false, tcpPort: tcpPort)
    }

    static let quiet: Logger = {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }()

    private static func temporaryDirectory(_ name: String) -> String {
        FileManager.default.temporaryDirectory.path + "/gs-pg-\(name)-\(UUID().uuidString.prefix(8))"
    }
}

/// - Returns: why `body` failed; `nil`: it succeeded.
func kind<Value>(
    within limit: PostgresTimeLimit? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value
) async -> PostgresError.Kind? {
    do {
        _ = try await PostgresTimeLimit.$current.withValue(limit ?? PostgresTimeLimit.current) { try await body() }
        return nil
    } catch {
        return (error as? PostgresError)?.kind
    }
}
