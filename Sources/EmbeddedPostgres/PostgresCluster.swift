internal import Foundation
package import Logging
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A private PostgreSQL cluster in a folder. Its server is started and stopped with this process.
///
/// The server listens only on a Unix socket in a folder that no other account can enter. The server stops when this
/// process ends, even by `kill -9`, and the next process takes the data over. If this process is root, the server runs
/// as `postgres` or `nobody`.
package final class PostgresCluster: Sendable {
    /// The folder that was passed to `init`.
    package let directory: String
    let settings: ServerSettings
    let search: InstallationSearch
    let logger: Logger
    private let running = Mutex<RunningCluster?>(nil)
    /// The last requested start or stop. Starts and stops run one after the other.
    private let lastTurn = Mutex<Task<Void, Never>?>(nil)

    /// A cluster with its data in `directory`/postgres, and with its log, lock and socket next to the data. Nothing is
    /// started yet.
    ///
    /// - Parameters:
    ///   - directory: an absolute path, or one relative to the working directory. It is created if it does not exist.
    ///   - durable: `false` makes the server faster, but data may be lost in a power cut. Use `false` only for tests.
    ///   - tcpPort: the port on 127.0.0.1 in the connection string of `start`; `nil`: there is no port, and the string
    ///     has the socket.
    package convenience init(directory: String, logger: Logger, durable: Bool = true, tcpPort: Int? = nil) {
        self.init(directory: directory, logger: logger, durable: durable, tcpPort: tcpPort, search: .standard())
    }

    init(
        directory: String, logger: Logger, durable: Bool, tcpPort: Int? = nil, search: InstallationSearch
    ) {
        self.directory = directory
        self.settings = ServerSettings(durable: durable, tcpPort: tcpPort)
        self.search = search
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
        let turn = takeTurn { [self] () async throws -> String in
            if let cluster = running.withLock({ $0 }) {
                if cluster.server.isRunning { return cluster.layout.connectionString(tcpPort: settings.tcpPort) }
                running.withLock { $0 = nil }
                await cluster.stop(logger: logger)
            }
            let cluster = try await launch()
            running.withLock { $0 = cluster }
            return cluster.layout.connectionString(tcpPort: settings.tcpPort)
        }
        return try await withTaskCancellationHandler {
            try await turn.value
        } onCancel: {
            turn.cancel()
        }
    }

    /// The server that another process runs in this folder, for a command that uses the same database. Nothing is
    /// started.
    ///
    /// - Returns: a connection string like that of `start`; `nil`: no server is ready there.
    package func runningElsewhere() -> String? {
        guard let home = try? ClusterFolder.make(directory) else { return nil }
        let layout = ClusterLayout(directory: home, userID: geteuid())
        guard let file = PostmasterFile(path: layout.postmasterFile), file.isReady else { return nil }
        return layout.connectionString(tcpPort: settings.tcpPort)
    }

    /// Stops the server, and waits until it has ended. Open sessions end; committed transactions are on disk. This
    /// function may be called again.
    package func stop() async {
        let turn = takeTurn { [self] in
            guard let cluster = running.withLock({ $0.take() }) else { return }
            await cluster.stop(logger: logger)
        }
        try? await turn.value
    }

    /// Waits until the server has ended in any way.
    func serverEnding() async {
        await running.withLock { $0 }?.server.ending()
    }

    private func takeTurn<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        lastTurn.withLock { last in
            let turn = Task { [last] in
                await last?.value
                return try await work()
            }
            last = Task { _ = await turn.result }
            return turn
        }
    }
}

/// The resources of a started cluster. If they are released without `stop`, the server also stops, but nothing waits
/// for its end.
struct RunningCluster: Sendable {
    let layout: ClusterLayout
    let server: ServerProcess
    let lock: DirectoryLock

    func stop(logger: Logger) async {
        await server.stop(postmasterFile: layout.postmasterFile)
        // The server has already ended, unless its parent, the shell in `ServerProcess`, was killed and left the server
        // behind.
        try? await EarlierServer(layout: layout).stop()
        SocketFolder(layout: layout).remove()
        lock.release()
        logger.debug("embedded PostgreSQL stopped", metadata: ["directory": "\(layout.directory)"])
    }
}
