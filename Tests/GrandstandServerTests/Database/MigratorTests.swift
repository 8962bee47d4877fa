internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct MigratorTests {
    private let names = Migration.all.map(\.name)
    /// The version after the last one, and a migration with this version.
    private let version = Migration.all.count + 1
    private var next: Migration {
        Migration(version: version, name: "next", sql: "create table next (id integer);")
    }

    @Test func `the program contains the migration files in order and byte for byte`() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../../migrations").standardized
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "sql" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        #expect(names == files.map { $0.deletingPathExtension().lastPathComponent })
        #expect(try Migration.all.map { Data($0.sql.utf8) } == files.map { try Data(contentsOf: $0) })
        #expect(Migration.all.map(\.version) == Array(1...files.count))
    }

    @Test func `of several concurrent runs one works, and the others wait and do nothing`() async throws {
        try await withDatabase(.empty) { test in
            let applied = try await concurrently(4) { _ in
                var configuration = PostgresConfiguration(connectionString: test.connectionString)
                (configuration.maximumConnections, configuration.acquireTimeout) = (1, .seconds(60))
                let pool = PostgresPool(configuration: configuration, logger: TestLog.logger("migrator"))
                return try await ending(with: { await pool.close() }) { try await Migrator(pool).migrate() }
            }
            #expect(applied.filter { !$0.isEmpty } == [names])
            #expect(try await Migrator(test.pool).status() == .current)
        }
    }

    @Test func `a database that lacks a table is refused, and the lock is released`() async throws {
        try await withDatabase(.own) { test in
            try await test.pool.query("alter table apps rename to elsewhere")
            let (migrator, refusal) = (Migrator(test.pool), ExitError.incomplete(tables: ["apps"]))
            #expect(try await migrator.status() == .refused(refusal))
            for _ in 1...2 { await #expect(throws: refusal) { try await migrator.migrate() } }
        }
    }

    @Test func `a failed migration leaves nothing of itself, and earlier ones stay`() async throws {
        try await withDatabase(.empty) { test in
            let bad = Migration(
                version: version + 1, name: "bad", sql: "create table half (id integer); select nonsense;")
            let migrator = Migrator(test.pool, migrations: Migration.all + [next, bad])
            await #expect(throws: PostgresError.self) { try await migrator.migrate() }
            #expect(try await migrator.status() == .behind(["bad"]))
            let half = try await test.pool.query("select to_regclass('half') is null as missing")
            #expect(try #require(half.first).decode(Bool.self, "missing"))
            let mended = Migration(version: version + 1, name: "bad", sql: "create table half (id integer);")
            #expect(try await Migrator(test.pool, migrations: Migration.all + [next, mended]).migrate() == ["bad"])
        }
    }

    @Test func `a migration that takes something away says which builds may still use the database`() async throws {
        try await withDatabase(.own) { test in
            let change = Migration(
                version: version, name: "change", sql: "-- least: \(version)\nalter table apps drop column name;")
            _ = try await Migrator(test.pool, migrations: Migration.all + [change]).migrate()
            #expect(try await Migrator(test.pool).status() == .refused(.ahead(least: version)))
        }
    }

    @Test func `a long-running reader delays the migration, but nobody else`() async throws {
        try await withDatabase(.own) { test in
            let change = Migration(version: version, name: "change", sql: "alter table apps add column size integer;")
            let migrator = Migrator(test.pool, migrations: Migration.all + [change], maxLockWait: .milliseconds(30))
            let migrating = try await test.pool.transaction { reader in
                _ = try await reader.query("select from apps")
                let migrating = Task { try await migrator.migrate() }
                try await until("the migration waits for the lock") {
                    try await !test.pool.query(
                        """
                        select from pg_stat_activity
                        where query like '%alter table apps%' and wait_event_type = 'Lock' and datname = current_database()
                        """
                    ).isEmpty
                }
                // Other sessions read and write the table. While a migration waits for the lock of the table, it lets
                // these sessions continue again and again.
                for _ in 0..<5 { try await test.pool.query("update apps set name = name") }
                return migrating
            }
            #expect(try await migrating.value == ["change"])
            #expect(try await test.pool.query("select size from apps").isEmpty)
        }
    }

    @Test func `applied and known migrations are compared correctly`() {
        let first = Migration(version: 1, name: "0001_first", sql: "select 1;")
        let next = Migration(version: 2, name: "0002_next", sql: "select 2;")
        let both = [first, next]
        let cases: [([Int: String], Migrator.Status)] = [
            ([:], .behind(["0001_first", "0002_next"])), ([1: first.checksum], .behind(["0002_next"])),
            ([1: first.checksum, 2: next.checksum], .current), ([1: "x"], .refused(.changed(name: "0001_first"))),
            ([1: first.checksum, 2: "x"], .refused(.changed(name: "0002_next"))),
            ([1: first.checksum, 2: next.checksum, 3: "x"], .current), ([2: next.checksum], .behind(["0001_first"])),
        ]
        for (applied, status) in cases { #expect(Migrator.compare(applied: applied, with: both, least: 2) == status) }
        let newer = [1: first.checksum, 2: next.checksum, 3: "x"]
        #expect(Migrator.compare(applied: newer, with: both, least: 3) == .refused(.ahead(least: 3)))
        #expect(first.checksum == "354b7196c9ba5fb4b21cf615bb6ec4cd5c07503c34229feef033fc081a8c03f4")
    }
}
