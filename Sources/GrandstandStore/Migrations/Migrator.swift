internal import FoundationEssentials
package import Postgres

/// Brings a database to the schema of this binary: forward only, one transaction each, checksummed.
package struct Migrator: Sendable {
    private let pool: PostgresPool
    private let migrations: [Migration]

    package init(_ pool: PostgresPool) {
        self.init(pool, migrations: Migration.all)
    }

    init(_ pool: PostgresPool, migrations: [Migration]) {
        self.pool = pool
        self.migrations = migrations
    }

    /// How a database stands to this binary.
    package enum Status: Sendable, Equatable {
        case current
        /// Names of the migrations that are missing.
        case behind([String])
        /// The newest version the database has and this binary does not know.
        case ahead(version: Int)
        /// An applied migration whose text differs from this binary's.
        case changed(name: String)
    }

    /// Compares without changing anything.
    package func status() async throws -> Status { try await status(on: pool) }

    /// The same on one connection, in one query.
    package func status(on database: some PostgresQuerying) async throws -> Status {
        let rows: PostgresRows
        do {
            rows = try await database.query("select version, checksum from schema_migrations order by version")
        } catch let error as PostgresError where error.sqlState == .undefinedTable {
            return migrations.isEmpty ? .current : .behind(migrations.map(\.name))
        }
        var applied: [Int: String] = [:]
        for row in rows { applied[try row.decode(Int.self, "version")] = try row.decode(String.self, "checksum") }
        return Self.compare(applied: applied, with: migrations)
    }

    /// The comparison itself: versions and checksums in the database against the migrations of this binary.
    static func compare(applied: [Int: String], with migrations: [Migration]) -> Status {
        let newest = migrations.map(\.version).max() ?? 0
        if let ahead = applied.keys.filter({ $0 > newest }).max() { return .ahead(version: ahead) }
        for migration in migrations {
            if let checksum = applied[migration.version], checksum != migration.checksum {
                return .changed(name: migration.name)
            }
        }
        let missing = migrations.filter { applied[$0.version] == nil }
        return missing.isEmpty ? .current : .behind(missing.map(\.name))
    }

    /// Applies what is missing and returns the names. Several processes may call it at once: an advisory lock lets one
    /// of them work while the others wait and then find nothing to do.
    ///
    /// - Throws: `MigrationRefusal` for a database that is ahead of this binary or was changed.
    package func migrate() async throws -> [String] {
        try await pool.withConnection { connection in
            // Another process may be migrating a large table.
            try await connection.query("select pg_advisory_lock(\(Self.lockKey))", deadline: .seconds(3_600))
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
        case .current: return []
        case .ahead(let version): throw MigrationRefusal.ahead(version: version)
        case .changed(let name): throw MigrationRefusal.changed(name: name)
        case .behind(let names):
            try await connection.script(
                """
                create table if not exists schema_migrations (
                    version integer primary key, name text not null, checksum text not null,
                    applied_at timestamptz not null default now())
                """)
            for migration in migrations where names.contains(migration.name) {
                // Checksum and name hold no quotes: hexadecimal digits and a file name of ours.
                try await connection.script(
                    """
                    begin;
                    \(migration.sql)
                    insert into schema_migrations (version, name, checksum)
                        values (\(migration.version), '\(migration.name)', '\(migration.checksum)');
                    commit;
                    """)
            }
            return names
        }
    }

    /// Any constant of ours: what matters is that every Grandstand takes the same one.
    private static let lockKey = 7_230_518_204_417_733
}

/// Why a database cannot be brought to this binary's schema.
package enum MigrationRefusal: Error, Equatable, CustomStringConvertible {
    case ahead(version: Int)
    case changed(name: String)

    package var description: String {
        switch self {
        case .ahead(let version):
            "the database has migration \(version), which this version of grandstand does not know; run a newer one"
        case .changed(let name):
            "migration \(name) was changed after it was applied to this database; restore its text or the database"
        }
    }
}
