package import Logging
internal import Synchronization

/// A private PostgreSQL cluster in a folder. Its server is started and stopped with this process.
///
/// The server listens only on a Unix socket in a folder that no other account can enter. The server stops when this
/// process ends, even by `kill -9`, and the next process takes the data over. If this process is root, the server runs
/// as `postgres` or `nobody`.
package final class PostgresCluster: Sendable {
    /// The folder that was passed to `init`.
    package let directory: String
    let durable: Bool
    let tcpPort: Int?
    let folders: [String]
    let logger: Logger
    /// The last requested start or stop, which has the running server. Starts and stops run one after the other.
    private let last = Mutex<Task<ServerProcess?, any Error>?>(nil)

    /// A cluster with its data in `directory`/postgres, and with its log, lock and socket next to the data. Nothing is
    /// started yet.
    ///
    /// - Parameters:
    ///   - directory: an absolute path, or one relative to the working directory. It is created if it does not exist.
    ///   - durable: `false` makes the server faster, but data may be lost in a power cut. Use `false` only for tests.
    ///   - tcpPort: the port on 127.0.0.1 in the connection string of `start`; `nil`: there is no port, and the string
    ///     has the socket.
    ///   - programs: the folders that are searched for PostgreSQL's programs; `nil`: `PATH` and the usual ones.
    package init(
        directory: String, logger: Logger, durable: Bool = true, tcpPort: Int? = nil, programs: [String]? = nil
    ) {
        self.directory = directory
        self.durable = durable
        self.tcpPort = tcpPort
        self.folders = programs ?? Programs.folders()
        self.logger = logger
    }

    /// Creates the cluster the first time, starts the server, and waits until it accepts connections.
    ///
    /// The first start takes one to two seconds, a later start less than one, and a start after a crash up to two
    /// minutes. Cancelling the caller stops what has begun. If the server already runs, this function returns at once.
    ///
    /// - Returns: a libpq connection string for the database `grandstand`, with the rights of its owner.
    /// - Throws: `PostgresClusterError` or `CancellationError`. After an error, nothing is left running.
    package func start() async throws -> String {
        let turn = afterLast { [self] server in
            if let server, server.isRunning { return server }
            await server?.stop()
            return try await launch()
        }
        return try await withTaskCancellationHandler {
            guard let server = try await turn.value else { throw CancellationError() }
            return server.cluster.layout.connectionString(tcpPort: tcpPort)
        } onCancel: {
            turn.cancel()
        }
    }

    /// The server that another process runs in this folder, for a command that uses the same database. Nothing is
    /// started.
    ///
    /// - Returns: a connection string like that of `start`; `nil`: no server is ready there.
    package func runningElsewhere() -> String? {
        guard let layout = try? ClusterLayout.make(directory), let file = layout.serverFile else { return nil }
        return file.contains("\nready") ? layout.connectionString(tcpPort: tcpPort) : nil
    }

    /// Stops the server, and waits until it has ended. Open sessions end; committed transactions are on disk. This
    /// function may be called again.
    package func stop() async {
        let turn = afterLast { server in
            await server?.stop()
            return nil
        }
        _ = try? await turn.value
    }

    /// Runs `work` with the running server. It returns the server that runs then.
    func afterLast(
        _ work: @escaping @Sendable (ServerProcess?) async throws -> ServerProcess?
    ) -> Task<ServerProcess?, any Error> {
        last.withLock { last in
            let turn = Task { [last] in try await work(try? await last?.value) }
            last = turn
            return turn
        }
    }
}
