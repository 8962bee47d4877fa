package import Postgres

/// Brings a database to the schema of this binary. Migrations only go forward and have checksums. Each runs in one
/// transaction.
package struct Migrator: Sendable {
    private let pool: PostgresPool
    private let migrations: [Migration]
    private let maxLockWait: Duration

    /// - Parameter maxLockWait: how long a migration waits for a lock on a table. While it waits, statements of other sessions
    ///   queue behind it, so it gives up soon. Before the next attempt it pauses for ten times as long, and these
    ///   statements continue.
    package init(
        _ pool: PostgresPool, migrations: [Migration] = Migration.all, maxLockWait: Duration = .milliseconds(200)
    ) { (self.pool, self.migrations, self.maxLockWait) = (pool, migrations, maxLockWait) }

    /// How the schema of a database compares with this binary.
    package enum Status: Sendable, Equatable {
        /// The database has this binary's migrations. It may have newer ones, if they allow this binary to use it.
        case current
        /// Names of the migrations that are missing.
        case behind([String])
        /// No migration of this binary brings the database to this binary's schema.
        case refused(ExitError)

        /// Why this binary cannot use the database, and what to do; `nil`: it can.
        var fault: ExitError? {
            switch self {
            case .current: nil
            case .behind(let names):
                ExitError(
                    "migrations are missing (\(names.joined(separator: ", "))): run `grandstand migrate` with the owner's "
                        + "DATABASE_URL; if you did, run packaging/roles.sql again, because this role may not see the tables"
                )
            case .refused(let refusal): refusal
            }
        }
    }

    /// Compares the database's schema with this binary, without changing anything. No statement fails because a table is
    /// missing: that would be reported as a trouble of the database.
    ///
    /// - Parameter connection: `nil`: any of the pool.
    package func status(on connection: PostgresConnection? = nil) async throws -> Status {
        let database: any PostgresQuerying = connection ?? pool
        guard
            try await database.query("select to_regclass('schema_migrations') is not null")[0].decode(Bool.self)
        else {
            return .behind(migrations.map(\.name))
        }
        // The table of a build from before the first release has no column `least`.
        let rows = try await database.query(
            """
            select version, checksum, coalesce((to_jsonb(m) ->> 'least')::integer, 1) as least from schema_migrations m
            """)
        var (applied, least): ([Int: String], Int) = ([:], 1)
        for row in rows {
            applied[try row.decode(Int.self, "version")] = try row.decode(String.self, "checksum")
            least = max(least, try row.decode(Int.self, "least"))
        }
        let status = Self.compare(applied: applied, with: migrations, least: least)
        guard status == .current else { return status }
        let missing = try await database.query(
            "select name from unnest(\(migrations.flatMap(\.newTables))) as name where to_regclass(name) is null"
        ).map { try $0.decode(String.self, "name") }
        return missing.isEmpty ? status : .refused(.incomplete(tables: missing))
    }

    /// Compares versions and checksums in the database with the migrations of this binary.
    ///
    /// - Parameter least: the newest migration that a binary must know to use the database.
    static func compare(applied: [Int: String], with migrations: [Migration], least: Int = 1) -> Status {
        if least > migrations.count { return .refused(.ahead(least: least)) }
        if let changed = migrations.first(where: { $0.checksum != applied[$0.version] ?? $0.checksum }) {
            return .refused(.changed(name: changed.name))
        }
        let missing = migrations.filter { applied[$0.version] == nil }.map(\.name)
        return missing.isEmpty ? .current : .behind(missing)
    }

    /// Applies the missing migrations and returns their names. Several processes may call this at once. An advisory
    /// lock lets one process work while the others wait, for an hour at most; the others then find nothing to do.
    ///
    /// - Throws: `ExitError` for a database that no migration of this binary brings to its schema.
    package func migrate() async throws -> [String] {
        try await pool.withConnection { connection in
            try await connection.script("select pg_advisory_lock(\(Self.lockKey))")
            do {
                let applied = try await apply(on: connection)
                try await connection.script("select pg_advisory_unlock(\(Self.lockKey))")
                return applied
            } catch {
                _ = try? await connection.script("rollback; select pg_advisory_unlock(\(Self.lockKey))")
                throw error
            }
        }
    }

    private func apply(on connection: PostgresConnection) async throws -> [String] {
        switch try await status(on: connection) {
        // A process of an older version finds nothing to do after a restart.
        case .current: return []
        case .refused(let refusal): throw refusal
        case .behind(let names):
            try await connection.script(
                """
                create table if not exists schema_migrations (
                    version integer primary key, name text not null, checksum text not null,
                    applied_at timestamptz not null default now(), least integer not null default 1)
                """)
            for migration in migrations where names.contains(migration.name) {
                try await apply(migration, on: connection)
            }
            return names
        }
    }

    private func apply(_ migration: Migration, on connection: PostgresConnection) async throws {
        while true {
            do {
                // A script takes no parameters. A checksum is hexadecimal and a name is a file name, so neither contains a
                // quote.
                return try await connection.script(
                    """
                    begin;
                    set local lock_timeout = '\(Int(maxLockWait / .milliseconds(1)))ms'; set local enable_seqscan = on;
                    \(migration.sql)
                    insert into schema_migrations (version, name, checksum, least)
                        values (\(migration.version), '\(migration.name)', '\(migration.checksum)', \(migration.least));
                    commit;
                    """)
            } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                try await connection.script("rollback")
                try await Task.sleep(for: maxLockWait * 10)
            }
        }
    }

    /// An arbitrary constant, the same in every Grandstand.
    private static let lockKey = 7_230_518_204_417_733
}

/// Why a database cannot be brought to this binary's schema.
extension ExitError {
    /// `least`: the newest migration that a binary must know to use the database.
    static func ahead(least: Int) -> Self {
        Self("a newer build changed the database. Only builds that know migration \(least) may use it: run a newer one")
    }

    /// An applied migration whose text differs from this binary's, or a database of a build before the first release.
    static func changed(name: String) -> Self {
        Self(
            "migration \(name) is not the one that was applied to this database: run the build that made the database, or "
                + "start with an empty one (docs/deploy.md#upgrade)")
    }

    /// Tables that an applied migration created are not there.
    static func incomplete(tables: [String]) -> Self {
        Self("restore these tables from a backup, because the database lacks them: \(tables.joined(separator: ", "))")
    }
}
