internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Sessions of the stores in databases whose settings, grants or tables differ from the usual ones.
@Suite(.timeLimit(.minutes(20)))
struct DatabaseSessionTests {
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

    @Test func `tables, sequences and functions that a role lacks rights on are named`() async throws {
        try await withDatabase(.own) { test in
            #expect(try await DatabaseReview(test.pool).unusable == [])
            try await test.pool.withConnection { connection in
                // This role may read all tables, but not all rows of this one, and may write only this one.
                try await connection.script(
                    """
                    alter table audiences enable row level security;
                    grant insert, update, delete on audiences to pg_read_all_data;
                    revoke execute on function prune_audit_log from public
                    """)
                try await connection.query("set role pg_read_all_data")
                let unusable = try await DatabaseReview(connection).unusable
                let wanted: Set = ["events", "resource_versions", "audiences", "prune_audit_log"]
                #expect(wanted.isSubset(of: unusable) && !unusable.contains("schema_migrations"))
                try await connection.query("reset role")
            }
        }
    }
}

/// What the decoder of rows refuses, and what it keeps of newer builds. The tests of the stores read all kinds of values.
struct RowDecoderTests {
    private struct Sample: Decodable {
        struct Part: Decodable {
            var status: Int?
            var reason: String?
        }

        var id: String
        var until: Int?
        var scopes: [Contract.Scope]
        var part: Part?
    }

    private func read(_ columns: String) async throws -> Sample {
        let query = PostgresQuery(unsafeSQL: "select \(columns), array['lookup', 'brand-new'] as scopes")
        return try await withDatabase { try #require(try await $0.pool.query(query).first).read() }
    }

    @Test("unknown words stay, and a column that is missing, NULL or of another type is an error")
    func unfitting() async throws {
        let part = #"null::integer as "part.status", 'r' as "part.reason""#
        let sample = try await read("'x' as id, null::integer as until, \(part)")
        #expect(sample.scopes == [.lookup, .unknown("brand-new")] && sample.until == nil && sample.part?.reason == "r")
        for columns in [
            "'x' as id, \(part)", "null::text as id, 1 as until, null::json as part",
            "'x' as id, 't' as until, null::json as part",
        ] { await #expect(throws: PostgresError.self, "\(columns)") { try await read(columns) } }
    }
}
