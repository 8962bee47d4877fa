internal import Foundation
internal import Logging

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension PostgresCluster {
    /// This time is enough for a crash recovery, which replays at most a few hundred megabytes of log.
    private static let timeout = Duration.seconds(120)

    /// The steps of `start()`, in order.
    func launch() async throws -> RunningCluster {
        do {
            let home = try ClusterFolder.make(directory)
            return try await launch(ClusterLayout(directory: home, userID: geteuid()))
        } catch let error as SystemError {
            throw PostgresClusterError(.directoryUnusable(path: directory, why: error.description))
        }
    }

    private func launch(_ layout: ClusterLayout) async throws -> RunningCluster {
        let lock = try DirectoryLock(path: layout.lock, directory: layout.directory)
        let version = try ClusterFolder.version(layout)
        let installation = try await search.installation(for: version, data: layout.data)
        let account = try PostgresAccount.choose(layout: layout)
        let sockets = SocketFolder(layout: layout)
        try sockets.make(for: account)
        let launcher = try await Launcher.find(
            for: account, folders: [layout.directory, layout.socketFolder], program: installation.program("postgres"))
        if version == nil {
            let creation = ClusterCreation(
                layout: layout, settings: settings, installation: installation, launcher: launcher, account: account)
            try await creation.run()
            logger.info("embedded PostgreSQL created", metadata: ["directory": "\(layout.directory)"])
        }
        try await EarlierServer(layout: layout).stop()
        try sockets.clear()

        let log = try ServerLog(layout: layout).begin()
        let deadline = ContinuousClock.now + Self.timeout
        var server: ServerProcess
        repeat {
            let stale = PostmasterFile(path: layout.postmasterFile)
            server = try ServerProcess(
                launcher: launcher, program: installation.program("postgres"),
                arguments: settings.serverArguments(layout: layout), log: log)
            do {
                let attempt = Attempt(server: server, layout: layout, stale: stale)
                if try await attempt.succeeds(before: deadline) { break }
            } catch {
                await server.stop(postmasterFile: layout.postmasterFile)
                throw error
            }
        } while true
        logger.debug(
            "embedded PostgreSQL started",
            metadata: ["directory": "\(layout.directory)", "sockets": "\(layout.socketFolder)"])
        return RunningCluster(layout: layout, server: server, lock: lock)
    }
}

/// One attempt to start the server.
private struct Attempt {
    private static let pollInterval = Duration.milliseconds(10)
    /// A part of PostgreSQL's message when it refuses to start because sessions of a killed server still run. These
    /// sessions end a moment after the killed server.
    private static let lingeringSessions = "pre-existing shared memory block"

    let server: ServerProcess
    let layout: ClusterLayout
    /// The file of an earlier server, which may still say "ready".
    let stale: PostmasterFile?

    /// Waits until the server accepts connections. The server writes its state to a file (`PostmasterFile`), so no
    /// connection and no client program are needed.
    ///
    /// - Returns: `false` if another attempt may succeed.
    /// - Throws: `PostgresClusterError` if the server ended or was not ready in time.
    func succeeds(before deadline: ContinuousClock.Instant) async throws -> Bool {
        while true {
            if let file = PostmasterFile(path: layout.postmasterFile), file.isReady, file.server != stale?.server {
                return true
            }
            let hasEnded = !server.isRunning
            if hasEnded || ContinuousClock.now > deadline {
                let lastLine = ServerLog(layout: layout).lastLine()
                if hasEnded, lastLine.contains(Self.lingeringSessions), ContinuousClock.now < deadline {
                    try await Task.sleep(for: Self.pollInterval)
                    return false
                }
                throw PostgresClusterError(.serverFailed(lastLine: lastLine, log: layout.log))
            }
            try await Task.sleep(for: Self.pollInterval)
        }
    }
}
