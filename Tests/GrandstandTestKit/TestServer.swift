internal import Foundation
internal import GrandstandServer
internal import Logging
internal import Postgres
internal import Synchronization

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
