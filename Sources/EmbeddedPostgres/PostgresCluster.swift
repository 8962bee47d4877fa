internal import Foundation
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
    let programFolders: [String]
    let logger: Logger
    /// The last requested start or stop, which has the running server. Starts and stops run one after the other.
    private let lastTurn = Mutex<Task<ServerProcess?, any Error>?>(nil)

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
        (self.directory, self.durable, self.tcpPort) = (directory, durable, tcpPort)
        self.programFolders = programs ?? Programs.folders()
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
    package func connectionElsewhere() -> String? {
        guard let layout = try? ClusterLayout.make(directory), let file = layout.pidText else { return nil }
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
        lastTurn.withLock { last in
            let turn = Task { [last] in try await work(try? await last?.value) }
            last = turn
            return turn
        }
    }
}

/// Why a private cluster could not be started.
package struct PostgresClusterError: Error, CustomStringConvertible {
    /// One line with advice.
    package let description: String
    /// Whether another running process has the folder.
    package var isHeld = false

    static func unusable(_ path: String, _ why: String) -> PostgresClusterError {
        PostgresClusterError(description: "\(path) cannot hold the embedded database: \(why)")
    }

    /// - Parameter holder: the ID of the other process; empty: it has not written it yet.
    static func held(_ path: String, by holder: some StringProtocol) -> PostgresClusterError {
        let process = holder.isEmpty ? "another process" : "process \(holder)"
        let advice = "stop it first, or choose another GRANDSTAND_DATA_DIR"
        return PostgresClusterError(description: "\(path) is in use by \(process): \(advice)", isHeld: true)
    }

    static func cannotLeaveRoot(_ why: String) -> PostgresClusterError {
        PostgresClusterError(
            description: "PostgreSQL does not run as root and \(why): run as an ordinary user, or set DATABASE_URL")
    }
}

extension PostgresCluster {
    /// The steps of `start()`, in order.
    func launch() async throws -> ServerProcess {
        let layout = try ClusterLayout.make(directory)
        let lock = try layout.takeLock()
        let version = try layout.dataVersion()
        var programs = try await Programs.find(version, in: programFolders, data: layout.data)
        let account = try ServerAccount.choose(for: layout.data)
        try layout.makeSocketFolder(owner: account)
        if let account {
            let entered = [layout.directory, layout.socketFolder, programs.folder]
            programs.commandPrefix = try await account.wrapper(entering: entered)
        }
        if version == nil { try await create(layout, programs, owner: account) }
        let cluster = PreparedCluster(layout: layout, programs: programs, lock: lock)
        try await cluster.stopServer()
        // Files that killed servers left there have numbers of processes that may be others now.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: layout.socketFolder)) ?? [] {
            unlink("\(layout.socketFolder)/\(name)")
        }
        return try await serve(cluster)
    }

    /// The first start: runs `initdb` and creates the database in a temporary folder, which gets its final name when
    /// everything is complete. So an interrupted first start leaves nothing incomplete.
    private func create(_ layout: ClusterLayout, _ programs: Programs, owner: ServerAccount?) async throws {
        let (files, prefix) = (FileManager.default, "postgres.new-")
        for name in (try? files.contentsOfDirectory(atPath: layout.directory)) ?? [] where name.hasPrefix(prefix) {
            try? files.removeItem(atPath: "\(layout.directory)/\(name)")
        }
        let new = "\(layout.directory)/\(prefix)\(UUID().uuidString)"
        try layout.makeFolder(new, 0o700, owner: owner)
        defer { try? files.removeItem(atPath: new) }
        // `trust` asks for no password. Only the data's owner and root can reach the socket, because its folder is
        // 0700, and both can read the files anyway. There is no TCP port, except in some tests.
        let initdb = ["-D", new, "-U", ClusterLayout.databaseName, "--auth=trust", "--encoding=UTF8", "--locale=C"]
        let session = ["--single", "-D", new, "-c", "exit_on_error=on", "-c", "fsync=\(durable)", "postgres"]
        for (program, arguments, input) in [
            ("initdb", durable ? initdb : initdb + ["--no-sync"], ""),
            ("postgres", session, "CREATE DATABASE \(ClusterLayout.databaseName)\n"),
        ] {
            let run = try await programs.run(program, arguments, input: input)
            if run.status == 0 { continue }
            throw PostgresClusterError(
                description: "the embedded database could not be created, initdb said: \(run.output.errorLine)")
        }
        try Task.checkCancellation()
        try layout.check(rename(new, layout.data), "make \(layout.data)")
        // Write the new name to disk before anything is committed in the folder.
        if durable { try FileHandle(forReadingAtPath: layout.directory)?.synchronize() }
        logger.info("embedded PostgreSQL created", metadata: ["directory": "\(layout.directory)"])
    }

    /// Starts the server and waits until it accepts connections. The server writes its state to a file, so no connection
    /// and no client program are needed.
    private func serve(_ cluster: PreparedCluster) async throws -> ServerProcess {
        let layout = cluster.layout
        // Begin a new log, and keep the previous one.
        rename(layout.log, "\(layout.log).1")
        let log = try layout.open(layout.log, O_WRONLY | O_APPEND)
        let stale = layout.pidText
        // Enough for a crash recovery, which replays at most a few hundred megabytes of log.
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let server = try ServerProcess(cluster, arguments(layout), log: log, stale: stale)
            do {
                while server.isRunning, ContinuousClock.now < deadline {
                    try Task.checkCancellation()
                    let file = layout.pidText
                    if file != stale, file?.contains("\nready") == true { return server }
                    try await Task.sleep(for: .milliseconds(10))
                }
                let text = try? String(contentsOfFile: layout.log, encoding: .utf8)
                let complaint = text?.errorLine ?? ""
                // Sessions of a server that was killed end a moment after it. Then the start is repeated.
                if complaint.contains("pre-existing shared memory block"), .now < deadline { continue }
                throw PostgresClusterError(
                    description: "the embedded database did not start, its log \(layout.log) ends: \(complaint)")
            } catch {
                await server.stop()
                throw error
            }
        }
    }

    /// The arguments of the server. Its settings are on the command line at every start, so that settings of a newer
    /// Grandstand also apply to older data.
    private func arguments(_ layout: ClusterLayout) -> [String] {
        let settings = [
            "listen_addresses=\(tcpPort == nil ? "" : "127.0.0.1")", "port=\(tcpPort ?? ClusterLayout.port)",
            "unix_socket_directories=\(layout.socketFolder)", "unix_socket_permissions=0700",
            "external_pid_file=\(layout.externalPIDFile)",
            // The values are small, for one machine. 250 connections are enough for an administrator and the pools of
            // several Grandstand servers, which have at most about 30 connections each.
            "max_connections=250", "shared_buffers=32MB", "max_wal_size=256MB", "jit=off",
            // Tests run ANALYZE themselves, because a query plan must not depend on when autovacuum runs.
            "autovacuum=\(durable)", "fsync=\(durable)", "full_page_writes=\(durable)",
            // The server's log does not have the errors of statements: clients get these errors and log them, and in
            // the server's log they would only fill the disk.
            "log_min_messages=log", "log_checkpoints=off", "log_line_prefix=%m [%p] ",
        ]
        return ["-D", layout.data] + settings.flatMap { ["-c", $0] }
    }
}
