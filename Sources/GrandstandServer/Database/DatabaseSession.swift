internal import EmbeddedPostgres
package import FoundationEssentials
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

    /// Opens the database and checks its schema. The embedded database is also started and migrated; other databases
    /// are not changed.
    ///
    /// - Parameters:
    ///   - sharing: use an embedded database that another process runs. For commands.
    ///   - onWait: called with the time that a caller waited for a connection of the pool.
    /// - Throws: `StartError`, which names the command to run. After an error, nothing is left running.
    package static func open(
        _ source: Configuration.DatabaseSource, sharing: Bool = false, sizes: PoolSizes = PoolSizes(),
        onWait: (@Sendable (_ pool: String, Duration) -> Void)? = nil,
        onFailure: (@Sendable (PostgresError) -> Void)? = nil, logger: Logger
    ) async throws -> DatabaseSession {
        let session = try await connect(
            source, sharing: sharing, sizes: sizes, onWait: onWait, onFailure: onFailure, logger: logger)
        do {
            try await session.requireUsable()
            if session.cluster != nil {
                _ = try await session.migrate()
            } else {
                try await session.requireCurrentSchema()
            }
            return session
        } catch {
            await session.close()
            throw Self.explain(error)
        }
    }

    /// Opens the database with any schema, for `migrate`. The embedded database is started.
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
                guard sharing, (error as? PostgresClusterError)?.isHeld == true, let other = own.runningElsewhere()
                else { throw StartError("\(error)") }
                (url, cluster) = (other, nil)
            }
        }
        let changes = LocalChanges()
        let health = PostgresHealth()
        var pools: [PoolSizes.Pool: PostgresPool] = [:]
        for pool in PoolSizes.Pool.allCases {
            var configuration =
                pool == .probe
                ? DatabaseProbe.configuration(connectionString: url)
                : PostgresConfiguration.stores(connectionString: url, byKey: pool == .work, changes: changes)
            configuration.maximumConnections = sizes[pool]
            if pool == .requests { configuration.maximumShared = sizes.shared }
            if let onWait { configuration.onWait = { onWait(pool.rawValue, $0) } }
            // The answers to checks show that the database is not silent. A check reports its result itself.
            configuration.health = health
            if pool != .probe { configuration.onFailure = onFailure }
            pools[pool] = PostgresPool(configuration: configuration, logger: logger)
        }
        return DatabaseSession(pools: pools, sizes: sizes, changes: changes, url: url, cluster: cluster)
    }

    subscript(kind: PoolSizes.Pool) -> PostgresPool { pools[kind]! }

    /// The pool `requests`.
    package var pool: PostgresPool { self[.requests] }

    /// Reads the database's clock, on a connection that is already open.
    func time(_ own: DatabaseClock.OwnClocks) async throws -> ClockSample {
        try await pool.withConnection { connection in try await own.sample { try await Self.now(on: connection) } }
    }

    /// The database's time. For commands.
    package func now() async throws -> Date {
        try await Self.explaining { try await Self.now(on: pool) }
    }

    private static func now(on database: some PostgresQuerying) async throws -> Date {
        try await database.query("select clock_timestamp() as now")[0].decode(Date.self, "now")
    }

    /// The database's clock, after several readings.
    ///
    /// - Throws: `StartError` if the database does not answer.
    func clock(
        wall: @escaping @Sendable () -> Date, onLead: @escaping @Sendable (TimeInterval) -> Void = { _ in },
        logger: Logger
    ) async throws -> DatabaseClock {
        let clock = DatabaseClock(wall: wall, look: { try await self.time($0) }, onLead: onLead, logger: logger)
        // The first reading takes longer, because it also fills the connection's caches. Only the shortest reading
        // counts.
        try await Self.explaining { for _ in 0..<3 { try await clock.measure() } }
        return clock
    }

    /// The API keys in the database.
    package func keys(now: @escaping @Sendable () -> Date) -> KeyStore { KeyStore(database: Database(pool), now: now) }

    /// Applies the missing migrations and returns their names.
    ///
    /// - Parameter waiting: called when a migration waits for a lock, with a description of the session that may hold
    ///   it.
    package func migrate(waiting: @escaping @Sendable (String) -> Void = { _ in }) async throws -> [String] {
        try await Self.explaining {
            try await requireUsable()
            return try await Migrator(pool, waiting: waiting).migrate()
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

    /// The oldest major version of PostgreSQL that the tests run on.
    static let leastVersion = 15

    /// Refuses a PostgreSQL that is too old, and a connection pooler that shares sessions between transactions. With such a
    /// pooler, the server would not fail at once, but only after some time.
    ///
    /// - Throws: `StartError`, also if the database does not answer.
    func requireUsable() async throws {
        let isShared = try await Self.explaining {
            // This also waits for a PostgreSQL server that is still starting.
            try Self.require(version: try await pool.withConnection { $0.serverVersion })
            return cluster == nil ? try await pool.sharesSessions() : false
        }
        guard isShared else { return }
        throw StartError(
            "DATABASE_URL: the connection pooler there shares sessions between transactions, but LISTEN, prepared "
                + "statements and settings need a session that is not shared: set `pool_mode = session` for this "
                + "database and user in pgbouncer.ini, or connect to PostgreSQL directly")
    }

    /// - Parameter version: PostgreSQL's version number; 15.18 is 150018.
    static func require(version: Int) throws(StartError) {
        guard version / 10_000 < leastVersion else { return }
        throw StartError(
            "the database is PostgreSQL \(version / 10_000); Grandstand needs \(leastVersion) or later: upgrade it with "
                + "pg_upgrade, or with pg_dump into a newer one")
    }

    private func requireCurrentSchema() async throws {
        switch try await Migrator(pool).status() {
        case .current, .newer: return
        case .behind(let names):
            throw StartError(
                "the database lacks \(names.count == 1 ? "migration" : "migrations") \(names.joined(separator: ", ")): "
                    + "run `grandstand migrate` with the same DATABASE_URL")
        case .refused(let refusal): throw refusal
        }
    }

    private static func explaining<Value>(_ body: () async throws -> Value) async throws(StartError) -> Value {
        do { return try await body() } catch { throw explain(error) }
    }

    private static func explain(_ error: any Error) -> StartError {
        if let error = error as? StartError { return error }
        if let error = error as? MigrationRefusal { return StartError("\(error)") }
        let finding = (error as? PostgresError).flatMap { DatabaseFinding($0) }
        return StartError("the database cannot be used: \(error)\(finding.map { ". \($0.detail)" } ?? "")")
    }
}
