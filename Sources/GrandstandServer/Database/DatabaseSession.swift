internal import EmbeddedPostgres
internal import FoundationEssentials
internal import Grandstand
package import Logging
package import Postgres

/// A database that this process has opened, with its cluster if it is the embedded one.
package struct DatabaseSession: Sendable {
    private let pools: [PoolSizes.Pool: PostgresPool]
    let sizes: PoolSizes
    /// Reports a change that was made through these pools, if it affects answers to lookups.
    let changes: LocalChanges
    /// The database's connection string, for other users of the same database.
    package let url: String
    private let cluster: PostgresCluster?

    /// Opens the database with any schema. The embedded database is started.
    ///
    /// - Parameters:
    ///   - sharing: use an embedded database that another process runs. For commands.
    ///   - onWait: called with the time that a caller waited for a connection of the pool.
    package static func connect(
        _ source: Configuration.DatabaseSource, sharing: Bool = false, sizes: PoolSizes = PoolSizes(),
        onWait: (@Sendable (_ pool: String, Duration) -> Void)? = nil,
        onFailure: (@Sendable (PostgresError) -> Void)? = nil, logger: Logger
    ) async throws -> DatabaseSession {
        let url: String
        let cluster: PostgresCluster?
        switch source {
        case .url(let given): (url, cluster) = (given, nil)
        case .embedded(let directory):
            let own = PostgresCluster(directory: directory, logger: logger)
            do {
                (url, cluster) = (try await own.start(), own)
            } catch {
                await own.stop()
                guard sharing, (error as? PostgresClusterError)?.isHeld == true, let other = own.connectionElsewhere()
                else { throw ExitError("\(error)") }
                (url, cluster) = (other, nil)
            }
        }
        let changes = LocalChanges()
        let health = PostgresHealth()
        var pools: [PoolSizes.Pool: PostgresPool] = [:]
        for pool in PoolSizes.Pool.allCases {
            var configuration = PostgresConfiguration.stores(
                connectionString: url, connections: sizes[pool], byKey: pool == .work,
                changes: pool == .probe ? nil : changes)
            if pool == .requests { configuration.maximumShared = sizes.maxShared }
            if let onWait { configuration.onWait = { onWait(pool.rawValue, $0) } }
            // The answers to checks show that the database is not silent. A check reports its result itself.
            configuration.health = health
            if pool == .probe {
                // A command asks once. A server asks again and again, and tells what is slow.
                let timeout = sharing ? Duration.seconds(10) : DatabaseWatch.slowAfter
                (configuration.acquireTimeout, configuration.queryTimeout) = (timeout, timeout)
                configuration.sessionSettings["work_mem"] = "64kB"
            } else {
                configuration.onFailure = onFailure
            }
            pools[pool] = PostgresPool(configuration: configuration, logger: logger)
        }
        return DatabaseSession(pools: pools, sizes: sizes, changes: changes, url: url, cluster: cluster)
    }

    /// Checks the schema of a database that was just opened. The embedded database is also migrated; other databases are
    /// not changed.
    ///
    /// - Throws: `ExitError`, which names the command to run. After an error, nothing is left running.
    package func prepared() async throws -> DatabaseSession {
        do {
            try await requireUsable()
            if cluster != nil { _ = try await migrate() }
            if let fault = try await Migrator(pool).status().fault { throw fault }
            return self
        } catch {
            await close()
            throw Self.explain(error)
        }
    }

    subscript(kind: PoolSizes.Pool) -> PostgresPool { pools[kind]! }

    /// The pool `requests`.
    package var pool: PostgresPool { self[.requests] }

    /// Reads the database's clock, on a connection that is already open.
    func readClock(_ wall: () -> Date) async throws -> ClockSample {
        try await pool.withConnection { connection in
            try await DatabaseClock.sample(wall) {
                try await connection.query("select clock_timestamp() as now")[0].decode("now")
            }
        }
    }

    /// The database's clock, after a first reading.
    ///
    /// - Throws: `ExitError` if the database does not answer.
    func clock(wall: @escaping @Sendable () -> Date, logger: Logger) async throws -> DatabaseClock {
        let clock = DatabaseClock(wall: wall, look: { try await readClock(wall) }, logger: logger)
        try await Self.explaining { try await clock.measure() }
        return clock
    }

    /// The API keys in the database, at its present time. For commands.
    package func keyStore() async throws -> KeyStore {
        let now = try await Self.explaining { try await readClock { Date() }.remoteTime }
        return KeyStore(database: Database(pool)) { now }
    }

    /// Applies the missing migrations and returns their names.
    package func migrate() async throws -> [String] {
        try await Self.explaining {
            try await requireUsable()
            return try await Migrator(pool).migrate()
        }
    }

    package func close() async {
        await closePools()
        await cluster?.stop()
    }

    /// Closes all pools. Nothing waits for the database after this.
    func closePools() async {
        await withTaskGroup(of: Void.self) { group in
            for pool in pools.values { group.addTask { await pool.close() } }
        }
    }

    /// Refuses a PostgreSQL that is too old, and a connection pooler that shares sessions between transactions. With such a
    /// pooler, the server would not fail at once, but only after some time.
    ///
    /// - Throws: `ExitError`, also if the database does not answer.
    func requireUsable() async throws {
        try await Self.explaining {
            // This also waits for a PostgreSQL server that is still starting.
            try Self.require(version: try await pool.withConnection { $0.serverVersion })
            guard cluster == nil, try await pool.sharesSessions() else { return }
            throw ExitError(
                "DATABASE_URL: the connection pooler there shares sessions between transactions, but LISTEN, prepared "
                    + "statements and settings need a session that is not shared: set `pool_mode = session` for this "
                    + "database and user in pgbouncer.ini, or connect to PostgreSQL directly")
        }
    }

    /// The tests run on PostgreSQL 15 and later.
    ///
    /// - Parameter version: PostgreSQL's version number; 15.18 is 150018.
    static func require(version: Int) throws(ExitError) {
        guard version < 150_000 else { return }
        throw ExitError(
            "the database is PostgreSQL \(version / 10_000); Grandstand needs 15 or later: upgrade it with pg_upgrade, or "
                + "with pg_dump into a newer one")
    }

    private static func explaining<Value>(_ body: () async throws -> Value) async throws(ExitError) -> Value {
        do { return try await body() } catch { throw explain(error) }
    }

    private static func explain(_ error: any Error) -> ExitError {
        if let error = error as? ExitError { return error }
        let finding = (error as? PostgresError).flatMap { DatabaseFinding($0) }
        return ExitError("the database cannot be used: \(error)\(finding.map { ". \($0.detail)" } ?? "")")
    }
}
