internal import FoundationEssentials
package import Postgres

/// Brings a database to the schema of this binary. Migrations only go forward and have checksums. Each runs in one
/// transaction, unless its file says otherwise.
package struct Migrator: Sendable {
    private let pool: PostgresPool
    private let migrations: [Migration]
    private let waits: (lock: Duration, pause: Duration, all: Duration)
    private let waiting: @Sendable (String) -> Void

    /// - Parameters:
    ///   - waits: how long a migration waits for locks of other sessions. `lock`: for a lock on a table; while it waits,
    ///     statements of other sessions queue behind it, so it must give up soon. `pause`: before the next attempt;
    ///     during the pause, the statements that queued behind the migration continue. `all`: the whole time for which a
    ///     migration is tried before it fails.
    ///   - waiting: called once for each migration that waits for a lock which another session holds.
    package init(
        _ pool: PostgresPool, migrations: [Migration] = Migration.all,
        waits: (lock: Duration, pause: Duration, all: Duration) = (.seconds(2), .seconds(3), .seconds(3_600)),
        waiting: @escaping @Sendable (String) -> Void = { _ in }
    ) { (self.pool, self.migrations, self.waits, self.waiting) = (pool, migrations, waits, waiting) }

    /// How the schema of a database compares with this binary.
    package enum Status: Sendable, Equatable {
        case current
        /// The database has migrations up to `version`, which this binary does not know. They allow this binary to use
        /// the database (`schema_migrations.least`).
        case newer(version: Int)
        /// Names of the migrations that are missing.
        case behind([String])
        /// No migration of this binary brings the database to this binary's schema.
        case refused(MigrationRefusal)
    }

    /// Compares the database's schema with this binary, without changing anything.
    package func status() async throws -> Status { try await status(on: pool) }

    /// Compares the database's schema with this binary on one connection. No statement fails because a table is
    /// missing: that would be reported as a trouble of the database.
    package func status(on database: some PostgresQuerying) async throws -> Status {
        guard
            try await database.query("select to_regclass('schema_migrations') is not null")[0].decode(Bool.self)
        else {
            // The schema of `search_path` that has the tables, if this role lacks the right to use it.
            let hidden = try await database.query(
                """
                select n.nspname::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where c.relname = 'schema_migrations' and not has_schema_privilege(n.oid, 'USAGE')
                    and position(n.nspname in current_setting('search_path')) > 0
                """
            ).first
            if let hidden { return .refused(.hidden(schema: try hidden.decode("name"))) }
            return migrations.isEmpty ? .current : .behind(migrations.map(\.name))
        }
        // The table of a build from before the first release has no column `least`.
        let rows = try await database.query(
            """
            select version, name, checksum, coalesce((to_jsonb(m) ->> 'least')::integer, 1) as least
            from schema_migrations m order by version
            """)
        var applied: [Int: String] = [:]
        for row in rows { applied[try row.decode(Int.self, "version")] = try row.decode(String.self, "checksum") }
        // The first migration of every build from before the first release.
        if try rows.first?.decode(String.self, "name") == "0001_initial" { return .refused(.unreleased) }
        let least = try rows.map { try $0.decode(Int.self, "least") }.max() ?? 1
        let status = Self.compare(applied: applied, with: migrations, least: least)
        guard status == .current else { return status }
        let missing = try await database.query(
            """
            select name from unnest(\(migrations.flatMap(\.tables))) as name where to_regclass(name) is null
            """
        ).map { try $0.decode(String.self, "name") }
        return missing.isEmpty ? status : .refused(.incomplete(tables: missing))
    }

    /// Compares versions and checksums in the database with the migrations of this binary.
    ///
    /// - Parameter least: the newest migration that a binary must know to use the database.
    static func compare(applied: [Int: String], with migrations: [Migration], least: Int = 1) -> Status {
        let newest = migrations.map(\.version).max() ?? 0
        let ahead = applied.keys.filter { $0 > newest }.max()
        if let ahead, least > newest { return .refused(.ahead(version: ahead, least: least)) }
        if let changed = migrations.first(where: { $0.checksum != applied[$0.version] ?? $0.checksum }) {
            return .refused(.changed(name: changed.name))
        }
        let missing = migrations.filter { applied[$0.version] == nil }.map(\.name)
        guard let ahead else { return missing.isEmpty ? .current : .behind(missing) }
        return missing.isEmpty ? .newer(version: ahead) : .refused(.ahead(version: ahead, least: least))
    }

    /// Applies the missing migrations and returns their names. Several processes may call this at once. An advisory
    /// lock lets one process work while the others wait; the others then find nothing to do.
    ///
    /// - Throws: `MigrationRefusal` for a database that no migration of this binary brings to its schema.
    package func migrate() async throws -> [String] {
        try await pool.withConnection { connection in
            // Another process may be migrating a large table. A session that waited inside PostgreSQL would hold a
            // snapshot, and `create index concurrently` in the other process would wait for that session in turn.
            let deadline = ContinuousClock.now + waits.all
            while try await !connection.query("select pg_try_advisory_lock(\(Self.lockKey))")[0].decode(Bool.self) {
                guard ContinuousClock.now < deadline else { throw MigrationRefusal.busy }
                try await Task.sleep(for: min(waits.pause, .milliseconds(250)))
            }
            do {
                let applied = try await apply(on: connection)
                try await connection.query("select pg_advisory_unlock(\(Self.lockKey))")
                return applied
            } catch {
                _ = try? await connection.script("rollback")
                _ = try? await connection.query("select pg_advisory_unlock(\(Self.lockKey))")
                throw error
            }
        }
    }

    private func apply(on connection: PostgresConnection) async throws -> [String] {
        switch try await status(on: connection) {
        // A process of an older version finds nothing to do after a restart.
        case .current, .newer: return []
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
        // A script takes no parameters. A checksum is hexadecimal and a name is a file name, so neither contains a
        // quote.
        let note = """
            insert into schema_migrations (version, name, checksum, least)
                values (\(migration.version), '\(migration.name)', '\(migration.checksum)', \(migration.least));
            """
        if let statements = migration.statements {
            // An unfinished index of an earlier attempt serves no query, and `if not exists` would take it for a finished
            // index.
            let unfinished = try await connection.query(
                """
                select format('%I', relname) as name from pg_index join pg_class on pg_class.oid = indexrelid
                where not indisvalid and relnamespace = current_schema()::regnamespace
                    and position(relname in \(migration.sql)) > 0
                """)
            for row in unfinished {
                try await connection.script("drop index concurrently \(try row.decode(String.self, "name"))")
            }
            for statement in statements { try await connection.script(statement) }
            try await connection.script(note)
            return
        }
        let deadline = ContinuousClock.now + waits.all
        var told = false
        while true {
            do {
                return try await connection.script(
                    """
                    begin;
                    set local lock_timeout = '\(Int(waits.lock / .milliseconds(1)))ms';
                    \(migration.sql)
                    \(note)
                    commit;
                    """)
            } catch let error as PostgresError
                where error.sqlState == .lockNotAvailable && ContinuousClock.now < deadline
            {
                try await connection.script("rollback")
                if !told {
                    waiting("migration \(migration.name) waits for a lock: \(try await oldest(on: connection))")
                }
                told = true
                try await Task.sleep(for: waits.pause)
            }
        }
    }

    /// The session that most likely holds the lock, for an operator who wants to end it.
    private func oldest(on connection: PostgresConnection) async throws -> String {
        let rows = try await connection.query(
            """
            select format('the oldest transaction is of process %s (%s), since %s', pid,
                coalesce(nullif(application_name, ''), usename), date_trunc('second', xact_start)) as words
            from pg_stat_activity
            where xact_start is not null and datname = current_database() and pid <> pg_backend_pid()
            order by xact_start limit 1
            """)
        return try rows.first?.decode(String.self, "words") ?? "its holder has ended meanwhile"
    }

    /// An arbitrary constant, the same in every Grandstand.
    private static let lockKey = 7_230_518_204_417_733
}

/// Why a database cannot be brought to this binary's schema.
package struct MigrationRefusal: Error, Equatable, CustomStringConvertible {
    /// What is wrong, and what to do.
    let fault, advice: String
    package var description: String { "\(fault): \(advice)" }

    private init(_ fault: String, _ advice: String) { (self.fault, self.advice) = (fault, advice) }

    /// The database's newest version, which this binary does not know. `least`: the version of the oldest binary that
    /// may use the database.
    static func ahead(version: Int, least: Int) -> Self {
        Self(
            "the database has migration \(version). Only builds that know migration \(least) may use it, and this version "
                + "of grandstand does not know it", "run a newer one")
    }

    /// An applied migration whose text differs from this binary's.
    static func changed(name: String) -> Self {
        Self(
            "migration \(name) was changed after it was applied to this database", "restore its text or the database")
    }

    /// A build from before the first release made the database.
    static let unreleased = Self(
        "the database was made by a build of grandstand from before its first release, which this version cannot use",
        "start with an empty database (another DATABASE_URL or GRANDSTAND_DATA_DIR), declare apps, keys and events again, "
            + "and take the channels over (docs/deploy.md#upgrade)")

    /// Another process has been migrating for an hour.
    static let busy = Self(
        "another process is still migrating this database", "wait for it, or end it, and try again")

    /// Tables that an applied migration created are not there.
    static func incomplete(tables: [String]) -> Self {
        Self(
            "the database lacks tables that were there: \(tables.joined(separator: ", "))", "restore them from a backup"
        )
    }

    /// The role lacks USAGE on the schema that has the tables.
    static func hidden(schema: String) -> Self {
        Self(
            "this role lacks the right usage on the schema \(schema), which has the tables",
            "run packaging/roles.sql again as the owner of the database, or grant the right to the role")
    }
}
