internal import GrandstandService
package import GrandstandStore
package import Postgres

/// A test's own database, with a pool, on the test process's temporary server.
package struct TestDatabase: Sendable {
    package let pool: PostgresPool
    /// The database as a value of `DATABASE_URL`.
    package let connectionString: String

    package init(pool: PostgresPool, connectionString: String) {
        self.pool = pool
        self.connectionString = connectionString
    }

    /// The database as the stores use it.
    package var database: Database { Database(pool) }
}

/// The first contents of a test's database.
package enum TestDatabaseContent: Sendable, Hashable {
    /// This build's schema, without rows.
    case migrated
    /// No schema.
    case empty
}

/// Runs `body` with a new database, which is dropped afterwards.
///
/// The database is cloned from a template, which takes about 40 ms. Tests may call this in parallel. Only a few
/// databases exist at a time, so further callers wait.
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
        do {
            let value = try await body(test)
            await server.drop(test)
            return value
        } catch {
            await server.drop(test)
            throw error
        }
    }
}
