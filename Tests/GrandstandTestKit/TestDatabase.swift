internal import EmbeddedPostgres
internal import Foundation
package import GrandstandServer
internal import Logging
package import Postgres
internal import Synchronization

/// A test's own database, with a pool, on the test process's temporary server.
package struct TestDatabase: Sendable {
    package let pool: PostgresPool
    /// The database as a value of `DATABASE_URL`.
    package let connectionString: String
    let content: TestDatabaseContent

    package init(pool: PostgresPool, connectionString: String, content: TestDatabaseContent = .migrated) {
        self.pool = pool
        self.connectionString = connectionString
        self.content = content
    }

    /// The database as the stores use it.
    package var database: Database { Database(pool) }
}

/// The first contents of a test's database.
package enum TestDatabaseContent: Sendable, Hashable {
    /// This build's schema, without rows. The database was used by an earlier test, so this test may change only rows.
    case migrated
    /// The same, in a new database: for tests that change the schema, fill tables for plans, or kill servers.
    case own
    /// No schema.
    case empty
}

/// Runs `body` with a database that no other test uses meanwhile.
///
/// Tests may call this in parallel. Only a few databases exist at a time, so further callers wait.
///
/// - Throws: the errors of `body`, or why PostgreSQL cannot be reached or started.
package func withDatabase<Value: Sendable>(
    _ content: TestDatabaseContent = .migrated,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (TestDatabase) async throws -> Value
) async throws -> Value {
    let server = TestServer.shared
    await server.databases.enter()
    defer { server.databases.leave() }
    let test = try await server.makeDatabase(content)
    return try await ending(with: { await server.release(test) }) { try await body(test) }
}

/// The PostgreSQL server of this process's tests, a temporary cluster.
actor TestServer {
    static let shared = TestServer()

    /// The maximum number of databases at a time. Each database has up to ten connections. So all databases together
    /// stay below the hundred connections of the embedded cluster.
    nonisolated let databases = Semaphore(permits: 6)
    nonisolated let logger = TestLog.logger("database")

    /// The migrated database that test databases are cloned from.
    private static let template = "grandstand_test"

    private typealias Base = (url: String, administration: PostgresPool)

    /// The start of the server. The server is started once, and all tests wait for this start.
    private var starting: Task<Base, any Error>?
    private var made = 0
    /// Migrated databases without rows that no test uses, as connection strings.
    private var free: [String] = []
    /// One connection to each migrated database that a test has used, because opening one takes longer than emptying.
    private var emptiers: [String: PostgresPool] = [:]

    /// Takes a free database, or creates one.
    func makeDatabase(_ content: TestDatabaseContent) async throws -> TestDatabase {
        let base = try await base()
        var url = content == .migrated ? free.popLast() ?? "" : ""
        if url.isEmpty {
            made += 1
            let name = "\(Self.template)_\(made)"
            // If a connection string has several `dbname`, libpq uses the last one.
            url = "\(base.url) dbname=\(name)"
            // By default PostgreSQL writes a clone to the WAL. Without fsync, cloning this small template takes 140 ms by
            // way of the WAL, and 40 ms by copying files.
            let source = content == .empty ? "" : " template \(Self.template) strategy file_copy"
            try await base.administration.withConnection { try await $0.script("create database \(name)\(source)") }
        }
        return TestDatabase(pool: pool(url), connectionString: url, content: content)
    }

    /// Closes the pool. Empties the database for the next test, or drops it, even if connections are open.
    func release(_ test: TestDatabase) async {
        await test.pool.close()
        let url = test.connectionString
        do {
            if test.content == .migrated {
                let emptier = emptiers[url] ?? pool(url)
                emptiers[url] = emptier
                try await emptier.withConnection { try await $0.script(Self.emptying) }
                free.append(url)
            } else if let name = url.split(separator: "=").last {
                try await base().administration.withConnection {
                    try await $0.script("drop database if exists \(name) with (force)")
                }
            }
        } catch {
            logger.warning("a test's database was neither emptied nor dropped", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes all rows but those of the migrations. Triggers do not run, because some refuse deletions.
    private static let emptying = """
        set session_replication_role = replica;
        select pg_terminate_backend(pid, 10000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid();
        do $$
        declare
            name text;
            has_rows boolean;
        begin
            for name in select tablename from pg_tables where schemaname = 'public' and tablename not like 'schema_%' loop
                execute format('select exists (select from %I)', name) into has_rows;
                if has_rows then execute format('truncate %I restart identity cascade', name); end if;
            end loop;
        end $$;
        """

    /// A pool whose callers may wait for a connection as long as a busy machine needs.
    private nonisolated func pool(_ url: String, connections count: Int = 10) -> PostgresPool {
        var settings = PostgresConfiguration.stores(connectionString: url, connections: count)
        settings.acquireTimeout = .seconds(60)
        return PostgresPool(configuration: settings, logger: logger)
    }

    private func base() async throws -> Base {
        let task = starting ?? Task { try await start() }
        starting = task
        return try await task.value
    }

    private nonisolated func start() async throws -> Base {
        let url = try await ThrowAwayCluster.start(logger: logger)
        let administration = pool(url, connections: 4)
        try await administration.withConnection { try await $0.script("create database \(Self.template)") }
        // PostgreSQL clones a template only while it has no connections.
        try await PostgresCluster.withPool("\(url) dbname=\(Self.template)") { _ = try await Migrator($0).migrate() }
        let sessions: PostgresQuery = "select from pg_stat_activity where datname = \(Self.template)"
        try await until("the migration's session has ended") { try await administration.query(sessions).isEmpty }
        return (url, administration)
    }
}

/// A temporary PostgreSQL cluster of this process. It is in memory if there is enough memory, otherwise in the
/// temporary folder.
///
/// Tests create and drop hundreds of databases with 300 files each. On ext4, this takes 300 s of processor time in the
/// kernel, in memory 100 to 120 s. The whole run takes 5 minutes on ext4 and 3 in memory.
///
/// The server ends with the process. The folder is removed at a normal exit. If a process was killed, the next process
/// removes the folder of the killed one.
enum ThrowAwayCluster {
    private static let prefix = "grandstand-tests-"

    private static let running = Mutex<PostgresCluster?>(nil)

    /// Starts the cluster. Call it once in a process.
    ///
    /// - Returns: a connection string with a role that may create databases.
    static func start(logger: Logger) async throws -> String {
        let place = place()
        removeAbandoned(in: place)
        let directory = place.appendingPathComponent(prefix + String(ProcessInfo.processInfo.processIdentifier)).path
        // An earlier process with the same number may have left this folder.
        try? FileManager.default.removeItem(atPath: directory)
        let cluster = PostgresCluster(directory: directory, logger: logger, durable: false)
        running.withLock { $0 = cluster }
        atexit { ThrowAwayCluster.stop() }
        return try await cluster.start()
    }

    /// Linux' `/dev/shm` if it has several times the space of the largest test; otherwise the temporary folder.
    private static func place() -> URL {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let free = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)[.systemFreeSize] as? Int
        if let free, free >= 4 << 30, FileManager.default.isWritableFile(atPath: memory.path) { return memory }
        return URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath()
    }

    /// Stops the cluster. Waits for this only for a limited time, so that the exit does not hang.
    private static func stop() {
        guard let cluster = running.withLock({ $0.take() }) else { return }
        let stopped = DispatchSemaphore(value: 0)
        Task.detached {
            await cluster.stop()
            stopped.signal()
        }
        _ = stopped.wait(timeout: .now() + 10)
        try? FileManager.default.removeItem(atPath: cluster.directory)
    }

    private static func removeAbandoned(in place: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            guard let process = pid_t(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
                continue
            }
            try? FileManager.default.removeItem(atPath: place.appendingPathComponent(name).path)
        }
    }
}
