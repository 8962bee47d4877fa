internal import Foundation
package import Logging
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A private PostgreSQL cluster in a folder, started and stopped with this process.
///
/// It listens on a Unix socket in a folder for its account alone, nowhere else. It stops when this process ends, even by
/// `kill -9`; the next one takes the data over. When this process is root the server runs as `postgres` or `nobody`.
package final class PostgresCluster: Sendable {
    /// The folder it was made with.
    package let directory: String
    let settings: ServerSettings
    let search: InstallationSearch
    let logger: Logger
    private let running = Mutex<RunningCluster?>(nil)
    /// Starts and stops take turns; the last one asked for.
    private let lastTurn = Mutex<Task<Void, Never>?>(nil)

    /// A cluster whose data is in `directory`/postgres, with log, lock and socket beside it. Nothing happens yet.
    ///
    /// - Parameters:
    ///   - directory: made when missing (not its parents' permissions); relative to the working directory or absolute.
    ///   - durable: false gives up the data's safety against a power cut for speed: for tests.
    ///   - tcpPort: where `start`'s connection string leads on 127.0.0.1; `nil`: to the socket, and there is no port.
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

    /// Creates the cluster the first time, starts the server and waits until it accepts connections.
    ///
    /// Takes one to two seconds the first time, less than one later; more after a crash, up to two minutes. Cancelling the
    /// caller stops what was begun. When it runs already, that is the answer.
    ///
    /// - Returns: a libpq connection string for the database `grandstand`, whose owner may do everything.
    /// - Throws: `PostgresClusterError`, or `CancellationError`; nothing is left running then.
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

    /// The server that another process runs in this folder, for a command beside it: nothing is started or kept.
    ///
    /// - Returns: a connection string as `start` gives it; `nil` when no server is ready there.
    package func runningElsewhere() -> String? {
        guard let home = try? ClusterFolder.make(directory) else { return nil }
        let layout = ClusterLayout(directory: home, userID: geteuid())
        guard let file = PostmasterFile(path: layout.postmasterFile), file.isReady else { return nil }
        return layout.connectionString(tcpPort: settings.tcpPort)
    }

    /// Stops the server: open sessions are ended, committed transactions are on disk. Waits for the end; safe to
    /// repeat.
    package func stop() async {
        let turn = takeTurn { [self] in
            guard let cluster = running.withLock({ $0.take() }) else { return }
            await cluster.stop(logger: logger)
        }
        try? await turn.value
    }

    /// Waits until the server has ended, by itself or because it was stopped.
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

/// The resources of a started cluster; releasing it stops the server, too, but does not wait.
struct RunningCluster: Sendable {
    let layout: ClusterLayout
    let server: ServerProcess
    let lock: DirectoryLock

    func stop(logger: Logger) async {
        await server.stop(postmasterFile: layout.postmasterFile)
        // Gone already, unless the shell was killed and left the server behind.
        try? await EarlierServer(layout: layout).stop()
        SocketFolder(layout: layout).remove()
        lock.release()
        logger.debug("embedded PostgreSQL stopped", metadata: ["directory": "\(layout.directory)"])
    }
}
