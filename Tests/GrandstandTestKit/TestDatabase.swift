package import GrandstandServer
package import Postgres

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
