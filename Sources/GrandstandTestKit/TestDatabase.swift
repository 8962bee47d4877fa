internal import GrandstandService
package import GrandstandStore
package import Postgres

/// A database of a test's own, with a pool on it, on the test process's throw-away server.
package struct TestDatabase: Sendable {
    package let pool: PostgresPool
    /// What `DATABASE_URL` would be for it.
    package let connectionString: String

    package init(pool: PostgresPool, connectionString: String) {
        self.pool = pool
        self.connectionString = connectionString
    }

    /// The database for stores.
    package var database: Database { Database(pool) }
}

/// The first contents of a test's database.
package enum TestDatabaseContent: Sendable, Hashable {
    /// The schema of this build, no rows.
    case migrated
    /// Nothing at all.
    case empty
}

/// Runs `body` on a fresh database that is dropped afterwards.
///
/// The database is cloned from a template, which takes about 40 ms. Tests may call this in parallel; a few databases at
/// a time exist, further callers wait.
///
/// - Throws: what `body` throws, and why no PostgreSQL can be reached or started.
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
