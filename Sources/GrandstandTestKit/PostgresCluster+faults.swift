package import EmbeddedPostgres
internal import Foundation
internal import GrandstandStore
internal import Postgres

/// What tests and match days do to a cluster beyond starting and stopping it.
extension PostgresCluster {
    /// Starts the cluster and brings it to the schema of this build.
    ///
    /// - Returns: its connection string.
    package func startMigrated() async throws -> String {
        let url = try await start()
        try await Self.withPool(url) { _ = try await Migrator($0).migrate() }
        return url
    }

    /// Fills the empty folder with a copy of a running cluster. `start` then starts a standby that streams from it, takes
    /// reads, and becomes a primary with `promote`.
    ///
    /// The primary itself runs `pg_basebackup`: it knows where its programs are, and the copy belongs to its account.
    ///
    /// - Parameter primary: the primary's connection string, as its `start` gave it.
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

    /// The standby is a primary from now on: when this returns it takes writes.
    package func promote() async throws {
        try await Self.withPool(try await start()) { pool in
            guard try await pool.query("select pg_promote() as done")[0].decode(Bool.self, "done") else {
                throw NeverHappened(what: "the standby was promoted")
            }
        }
    }

    /// As a machine dies: every process of the server is gone at once, and nothing more is written. `start` recovers.
    package func kill() async {
        signal(SIGKILL)
        // Collects the remains, so that a start is one.
        await stop()
    }

    /// Stops every process of the server without a sign, as when its machine hangs.
    ///
    /// - Parameter isFrozen: `false`: it goes on as if nothing had been.
    package func freeze(_ isFrozen: Bool) throws { signal(isFrozen ? SIGSTOP : SIGCONT) }

    /// To the server first, so that it starts no more children, then to those.
    private func signal(_ number: Int32) {
        let file = try? String(contentsOfFile: directory + "/postgres/postmaster.pid", encoding: .utf8)
        guard let server = file?.split(separator: "\n").first.flatMap({ pid_t($0) }), server > 0 else { return }
        // Its children are no longer its own once it is dead: their numbers are read before that.
        if number == SIGKILL { signal(SIGSTOP) }
        if number != SIGKILL { _ = Foundation.kill(server, number) }
        let children = try? String(contentsOfFile: "/proc/\(server)/task/\(server)/children", encoding: .utf8)
        for pid in (children ?? "").split(separator: " ").compactMap({ pid_t($0) }) + [server] {
            _ = Foundation.kill(pid, number)
        }
    }

    /// Runs `body` with a pool on a database, and closes it.
    static func withPool(
        _ url: String, _ body: (PostgresPool) async throws -> Void
    ) async throws {
        let pool = PostgresPool(
            configuration: PostgresConfiguration(connectionString: url), logger: TestLog.logger("cluster"))
        do {
            try await body(pool)
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
    }

    /// A command for a shell, each word in quotes.
    private static func shell(_ words: [String]) -> String {
        words.map { "'" + $0.replacing("'", with: #"'\''"#) + "'" }.joined(separator: " ")
    }

    /// A text in SQL.
    private static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}
