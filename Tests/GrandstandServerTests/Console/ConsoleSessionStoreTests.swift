internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// Sessions of the stores in databases whose settings, grants or tables differ from the usual ones.
@Suite(.timeLimit(.minutes(20)))
struct ConsoleSessionStoreTests {
    @Test func `settings of the database neither make commits unsafe nor end sessions and statements`() async throws {
        try await withDatabase(.own) { test in
            let name = try await test.pool.query("select quote_ident(current_database()) as name")[0]
                .decode(String.self, "name")
            let unsafe = [
                "synchronous_commit": "off", "idle_session_timeout": "7s", "lock_timeout": "7s",
                "statement_timeout": "7s", "default_transaction_isolation": "serializable",
            ]
            for (setting, value) in unsafe {
                try await test.pool.withConnection {
                    try await $0.script("alter database \(name) set \(setting) = '\(value)'")
                }
            }
            let pool = PostgresPool(
                configuration: .stores(connectionString: test.connectionString), logger: TestLog.logger("session"))
            let rows = try await pool.query(
                """
                select name || ' ' || setting as setting from pg_settings where name = any(\(Array(unsafe.keys)))
                order by name
                """)
            await pool.close()
            #expect(
                try rows.map { try $0.decode(String.self, "setting") } == [
                    "default_transaction_isolation read committed", "idle_session_timeout 0", "lock_timeout 0",
                    "statement_timeout 0", "synchronous_commit on",
                ])
        }
    }

    @Test func `the rights that a role lacks are named with their tables`() async throws {
        try await withDatabase(.own) { test in
            #expect(try await DatabaseReview(test.pool).missingGrants == [])
            try await test.pool.withConnection { connection in
                try await connection.script(
                    """
                    alter table audiences enable row level security;
                    revoke execute on function prune_audit_log, announce_lookup from public
                    """)
                // This role may read all tables, and do nothing else.
                try await connection.query("set role pg_read_all_data")
                let missing = try await DatabaseReview(connection).missingGrants
                #expect(missing.contains("delete on events") && missing.contains("usage on resource_versions"))
                #expect(
                    missing.suffix(2) == ["execute on prune_audit_log", "all rows of audiences (row-level security)"])
                #expect(!missing.contains { $0.hasPrefix("select") || $0.hasSuffix("on schema_migrations") })
                try await connection.script(
                    "reset role; revoke usage on schema public from public; set role pg_monitor")
                let hidden = Migrator.Status.refused(.hidden(schema: "public"))
                #expect(try await Migrator(test.pool).status(on: connection) == hidden)
                try await connection.query("reset role")
            }
        }
    }

    @Test func `a missing table is a wrong schema, with 503`() async throws {
        try await withDatabase(.own) { test in
            try await test.pool.query("alter table apps rename to elsewhere")
            let problem = await #expect(throws: Problem.self) {
                try await test.database.query("select bundle_id from apps")
            }
            #expect(problem?.status == 503 && problem?.trouble == .schema)
            let lacking = MigrationRefusal.incomplete(tables: ["apps"])
            await #expect(throws: lacking) { try await Migrator(test.pool).migrate() }
        }
    }

    @Test func `looking for the schema of an empty database is no trouble of the database`() async throws {
        let failures = Mutex<[PostgresError]>([])
        try await withDatabase(.empty) { test in
            var configuration = PostgresConfiguration.stores(connectionString: test.connectionString)
            configuration.onFailure = { error in failures.withLock { $0.append(error) } }
            let pool = PostgresPool(configuration: configuration, logger: TestLog.logger("session"))
            let status = try await Migrator(pool).status()
            #expect(status == .behind(Migration.all.map(\.name)))
            await pool.close()
        }
        #expect(failures.withLock { $0 } == [])
    }
}
