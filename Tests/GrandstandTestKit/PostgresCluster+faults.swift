package import EmbeddedPostgres
internal import Foundation
internal import GrandstandServer
package import Postgres

/// Faults and replicas of a cluster.
extension PostgresCluster {
    /// Starts the cluster and migrates it to this build's schema.
    ///
    /// - Returns: its connection string.
    package func startMigrated() async throws -> String {
        let url = try await start()
        try await Self.withPool(url) { _ = try await Migrator($0).migrate() }
        return url
    }

    /// Fills the empty folder with a copy of a running cluster. After that, `start` starts a standby, which streams
    /// from the primary and serves reads. `promote` makes this standby a primary.
    ///
    /// The primary itself runs `pg_basebackup`, because the primary knows where its programs are, and because the copy
    /// then belongs to the primary's account.
    ///
    /// - Parameter primary: the primary's connection string, as its `start` returned it.
    package func follow(_ primary: String) async throws {
        let files = FileManager.default
        try files.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
        let data = directory + "/postgres"
        try files.createDirectory(
            atPath: data, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try await Self.withPool(primary) { pool in
            let row = try await pool.query(
                """
                select setting as programs, current_setting('data_directory') as data from pg_config
                where name = 'BINDIR'
                """)[0]
            let owner = try files.attributesOfItem(atPath: try row.decode(String.self, "data"))
            if geteuid() == 0 {
                try files.setAttributes(
                    owner.filter { [.ownerAccountID, .groupOwnerAccountID].contains($0.key) }, ofItemAtPath: data)
            }
            let programs = try row.decode(String.self, "programs")
            let command = [
                programs + "/pg_basebackup", "-D", data, "-d", primary, "--write-recovery-conf", "--wal-method=stream",
                "--checkpoint=fast", "--create-slot", "--slot=standby", "--no-sync",
            ]
            try await pool.withConnection {
                try await $0.script("copy (select 1) to program \(Self.literal(Self.shell(command)))")
            }
        }
    }

    /// Makes the standby a primary. When this function returns, the new primary accepts writes.
    package func promote() async throws {
        try await Self.withPool(try await start()) { pool in
            guard try await pool.query("select pg_promote() as done")[0].decode(Bool.self, "done") else {
                throw NeverHappened(what: "the standby was promoted")
            }
        }
    }

    /// Kills every process of the server at once, as when the machine dies. The processes write nothing more. The next
    /// `start` recovers the data.
    package func kill() async {
        signal(SIGKILL)
        // Release the remaining resources, so that the cluster can be started again.
        await stop()
    }

    /// Suspends every process of the server, as when its machine hangs.
    ///
    /// - Parameter isFrozen: `false` lets the processes continue.
    package func freeze(_ isFrozen: Bool) throws { signal(isFrozen ? SIGSTOP : SIGCONT) }

    /// Signals the server and its children. The server is signalled first, or suspended first if it is to be killed, so
    /// that it starts no more children.
    private func signal(_ number: Int32) {
        let file = try? String(contentsOfFile: directory + "/postgres/postmaster.pid", encoding: .utf8)
        guard let server = file?.split(separator: "\n").first.flatMap({ pid_t($0) }), server > 0 else { return }
        // A dead server has no children to find. So before a kill, all processes are suspended, then the children's
        // process IDs are read, and the server is killed last.
        if number == SIGKILL { signal(SIGSTOP) }
        if number != SIGKILL { _ = Foundation.kill(server, number) }
        let children = try? String(contentsOfFile: "/proc/\(server)/task/\(server)/children", encoding: .utf8)
        for pid in (children ?? "").split(separator: " ").compactMap({ pid_t($0) }) + [server] {
            _ = Foundation.kill(pid, number)
        }
    }

    /// Runs `body` with a pool on a database, and closes the pool.
    @discardableResult
    package static func withPool<Value>(
        _ url: String, isolation: isolated (any Actor)? = #isolation, _ body: (PostgresPool) async throws -> Value
    ) async throws -> Value {
        var configuration = PostgresConfiguration(connectionString: url)
        // Many tests share this machine, so the first connection to a new cluster may take long.
        configuration.acquireTimeout = .seconds(60)
        let pool = PostgresPool(configuration: configuration, logger: TestLog.logger("cluster"))
        return try await ending(with: { await pool.close() }) { try await body(pool) }
    }

    /// A shell command with each word in quotation marks.
    private static func shell(_ words: [String]) -> String {
        words.map { "'" + $0.replacing("'", with: #"'\''"#) + "'" }.joined(separator: " ")
    }

    /// A text as an SQL literal.
    private static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}
