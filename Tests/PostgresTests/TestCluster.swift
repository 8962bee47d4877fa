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
        maximumConnections: Int = 4, _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> PostgresPool {
        var configuration = PostgresConfiguration(connectionString: try await connectionString())
        configuration.maximumConnections = maximumConnections
        change(&configuration)
        return PostgresPool(configuration: configuration, logger: quiet)
    }

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
