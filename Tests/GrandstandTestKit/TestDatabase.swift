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
    return try await server.databases.withPermit {
        _ = isolation
        let test = try await server.makeDatabase(content)
        return try await ending(with: { await server.release(test) }) { try await body(test) }
    }
}

/// The PostgreSQL server of this process's tests: a temporary cluster, or the server in `GRANDSTAND_TEST_DATABASE_URL`,
/// whose role must be allowed to create databases.
actor TestServer {
    static let shared = TestServer()

    /// The maximum number of databases at a time. Each database has up to ten connections. So all databases together
    /// stay below the hundred connections of the embedded cluster.
    nonisolated let databases = Semaphore(permits: 6)
    nonisolated let logger = TestLog.logger("database")

    /// The start of the server. The server is started once, and all tests wait for this start.
    private var starting: Task<Base, any Error>?
    private var made = 0
    /// Migrated databases without rows that no test uses.
    private var free: [String] = []
    /// One connection to each migrated database that a test has used, because opening one takes longer than emptying.
    private var emptiers: [String: PostgresPool] = [:]

    private struct Base {
        let connectionString: String
        let administration: PostgresPool
        /// The name of the migrated database that test databases are cloned from.
        let template: String
        /// Whether to clone by copying files. From PostgreSQL 15 on, the default is to write the clone to the WAL.
        /// Without fsync, cloning this small template takes 140 ms by way of the WAL, and 40 ms by copying files.
        let clonesFiles: Bool
    }

    /// Takes a free database, or creates one.
    func makeDatabase(_ content: TestDatabaseContent) async throws -> TestDatabase {
        let base = try await base()
        if content == .migrated, let name = free.popLast() { return database(name, content, on: base) }
        made += 1
        let name = "\(base.template)_\(made)"
        try await Self.create(
            name, from: content == .empty ? nil : base.template, clonesFiles: base.clonesFiles,
            on: base.administration)
        return database(name, content, on: base)
    }

    private func database(_ name: String, _ content: TestDatabaseContent, on base: Base) -> TestDatabase {
        let connectionString = Self.named(name, in: base.connectionString)
        return TestDatabase(
            pool: PostgresPool(configuration: .stores(connectionString: connectionString), logger: logger),
            connectionString: connectionString, content: content)
    }

    /// Closes the pool. Empties the database for the next test, or drops it, even if connections are open.
    func release(_ test: TestDatabase) async {
        await test.pool.close()
        guard let base = try? await base(), let name = Self.name(in: test.connectionString) else { return }
        do {
            if test.content == .migrated {
                let emptier =
                    emptiers[name]
                    ?? PostgresPool(configuration: .stores(connectionString: test.connectionString), logger: logger)
                emptiers[name] = emptier
                try await emptier.withConnection { try await $0.script(Self.emptying) }
                free.append(name)
            } else {
                try await base.administration.withConnection {
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

    private func base() async throws -> Base {
        if let starting { return try await starting.value }
        let task = Task { try await Self.start(logger: logger) }
        starting = task
        return try await task.value
    }

    private static func start(logger: Logger) async throws -> Base {
        let connectionString: String
        if let given = ProcessInfo.processInfo.environment["GRANDSTAND_TEST_DATABASE_URL"], !given.isEmpty {
            connectionString = given
        } else {
            connectionString = try await ThrowAwayCluster.start(logger: logger)
        }
        var configuration = PostgresConfiguration.stores(connectionString: connectionString)
        configuration.maximumConnections = 4
        let administration = PostgresPool(configuration: configuration, logger: logger)
        let version = try await administration.withConnection { $0.serverVersion }
        let template = "grandstand_test_\(UUID().uuidString.prefix(8).lowercased())"
        try await create(template, from: nil, clonesFiles: false, on: administration)
        let migrating = PostgresPool(
            configuration: .stores(connectionString: named(template, in: connectionString)), logger: logger)
        _ = try await Migrator(migrating).migrate()
        // PostgreSQL clones a template only while it has no connections.
        await migrating.close()
        return Base(
            connectionString: connectionString, administration: administration, template: template,
            clonesFiles: version >= 150_000)
    }

    private static func create(
        _ name: String, from template: String?, clonesFiles: Bool, on pool: PostgresPool
    ) async throws {
        // The names need no quotation marks: they have only letters, digits and underscores.
        let source = template.map { " template \($0)" + (clonesFiles ? " strategy file_copy" : "") } ?? ""
        try await pool.withConnection { try await $0.script("create database \(name)\(source)") }
    }

    /// If a connection string has several `dbname`, libpq uses the last one, in keyword strings and in URIs.
    private static func named(_ name: String, in connectionString: String) -> String {
        guard connectionString.contains("://") else { return "\(connectionString) dbname=\(name)" }
        return connectionString + (connectionString.contains("?") ? "&" : "?") + "dbname=\(name)"
    }

    private static func name(in connectionString: String) -> String? {
        connectionString.range(of: "dbname=", options: .backwards).map { String(connectionString[$0.upperBound...]) }
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

    private struct Running {
        let cluster: PostgresCluster
        let directory: String
    }

    private static let running = Mutex<Running?>(nil)

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
        running.withLock { $0 = Running(cluster: cluster, directory: directory) }
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
        guard let running = running.withLock({ $0.take() }) else { return }
        let stopped = DispatchSemaphore(value: 0)
        Task.detached {
            await running.cluster.stop()
            stopped.signal()
        }
        _ = stopped.wait(timeout: .now() + 10)
        try? FileManager.default.removeItem(atPath: running.directory)
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
