internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Pairs of clusters, for tests and match days: a primary, and a standby that follows its log.
extension PostgresCluster {
    /// Fills the empty folder with a copy of a running cluster; what `start` starts then is a standby that streams from it,
    /// takes reads, and becomes a primary with `promote`.
    ///
    /// - Parameter connectionString: the primary's, as its `start` gave it.
    /// - Throws: `PostgresClusterError` with what `pg_basebackup` said last.
    package func follow(_ connectionString: String) async throws {
        let layout = ClusterLayout(directory: try ClusterFolder.make(directory), userID: geteuid())
        let installation = try await search.installation(for: nil, data: layout.data)
        let account = try PostgresAccount.choose(layout: layout)
        try ClusterFolder.make(layout.data, permissions: 0o700)
        try account?.own(layout.data)
        try await run(
            installation, account, layout, "pg_basebackup",
            [
                "-D", layout.data, "-d", connectionString, "--write-recovery-conf", "--wal-method=stream",
                "--checkpoint=fast", "--create-slot", "--slot=standby", "--no-sync",
            ])
    }

    /// The standby is a primary from now on: when this returns it takes writes.
    package func promote() async throws {
        let layout = ClusterLayout(directory: try ClusterFolder.make(directory), userID: geteuid())
        let installation = try await search.installation(for: try ClusterFolder.version(layout), data: layout.data)
        let account = try PostgresAccount.choose(layout: layout)
        try await run(installation, account, layout, "pg_ctl", ["promote", "-D", layout.data])
    }

    /// As a machine dies: every process of the server is gone at once, and nothing was written any more.
    package func kill() async {
        guard let home = try? ClusterFolder.make(directory),
            let file = PostmasterFile(path: ClusterLayout(directory: home, userID: geteuid()).postmasterFile)
        else { return }
        signal(file, SIGKILL)
        await serverEnding()
    }

    /// It stops without a sign: as when its machine hangs.
    ///
    /// - Parameter isFrozen: `false`: it goes on as if nothing had been.
    package func freeze(_ isFrozen: Bool) throws {
        let layout = ClusterLayout(directory: try ClusterFolder.make(directory), userID: geteuid())
        guard let file = PostmasterFile(path: layout.postmasterFile) else { return }
        signal(file, isFrozen ? SIGSTOP : SIGCONT)
    }

    /// To the server and its children, which lead process groups of their own.
    private func signal(_ file: PostmasterFile, _ number: Int32) {
        let children =
            (try? String(contentsOfFile: "/proc/\(file.pid)/task/\(file.pid)/children", encoding: .utf8)) ?? ""
        for pid in [file.pid] + children.split(separator: " ").compactMap({ Int32($0) }) { _ = systemKill(pid, number) }
    }

    private func run(
        _ installation: PostgresInstallation, _ account: PostgresAccount?, _ layout: ClusterLayout, _ program: String,
        _ arguments: [String]
    ) async throws {
        let path = installation.program(program)
        let launcher = try await Launcher.find(for: account, folders: [layout.directory], program: path)
        let run = try await CapturedRun.of(launcher.command(path, arguments), environment: ChildEnvironment.make())
        guard run.ending.isSuccess else {
            throw PostgresClusterError(.serverFailed(lastLine: "\(program): \(run.complaint)", log: layout.log))
        }
    }
}

/// `kill(2)`, beside a method of that name.
private func systemKill(_ pid: pid_t, _ number: Int32) -> Int32 {
    #if canImport(Darwin)
        Darwin.kill(pid, number)
    #else
        Glibc.kill(pid, number)
    #endif
}
