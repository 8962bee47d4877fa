internal import Foundation
internal import Logging

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension PostgresCluster {
    /// Crash recovery replays at most a few hundred megabytes of log.
    private static let patience = Duration.seconds(120)
    private static let pollInterval = Duration.milliseconds(10)

    /// Everything `start()` does, in order.
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

        let stale = PostmasterFile(path: layout.postmasterFile)
        let server = try ServerProcess(
            launcher: launcher, program: installation.program("postgres"),
            arguments: settings.serverArguments(layout: layout), log: ServerLog(layout: layout).begin())
        do {
            try await waitUntilReady(server, layout: layout, stale: stale)
        } catch {
            await server.stop(postmasterFile: layout.postmasterFile)
            throw error
        }
        logger.debug(
            "embedded PostgreSQL started",
            metadata: ["directory": "\(layout.directory)", "sockets": "\(layout.socketFolder)"])
        return RunningCluster(layout: layout, server: server, lock: lock)
    }

    /// Reads what the server writes about itself, which needs no connection and no client program.
    private func waitUntilReady(_ server: ServerProcess, layout: ClusterLayout, stale: PostmasterFile?) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            if let file = PostmasterFile(path: layout.postmasterFile), file.isReady, file.server != stale?.server {
                return
            }
            if server.shell.endingSoFar != nil || ContinuousClock.now > deadline {
                let lastLine = ServerLog(layout: layout).lastLine()
                throw PostgresClusterError(.serverFailed(lastLine: lastLine, log: layout.log))
            }
            try await Task.sleep(for: Self.pollInterval)
        }
    }
}
