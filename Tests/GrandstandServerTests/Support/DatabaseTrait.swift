internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Gives each test of a suite a database with the keys of `RouteWorld`. The worlds that the test makes use it.
struct DatabaseTrait: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal static var current: TestDatabase?

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await withDatabase { database in
            let rows = StoreWorld(database)
            for (secret, key) in RouteWorld.keys { try await rows.add(key, secret) }
            try await Self.$current.withValue(database) { try await function() }
        }
    }
}

extension Trait where Self == DatabaseTrait {
    static var database: Self { Self() }
}

extension StoreWorld {
    /// Adds a key with this secret, if it is not there.
    func add(_ key: APIKey, _ secret: String) async throws {
        try await pool.query(
            """
            insert into api_keys (id, name, secret_hash, prefix, scopes, apps, event_key_prefix, created_at)
            values (\(key.id), \(key.name), \(SecretHash(of: secret)), 'gs_',
                \(key.scopes.map(\.rawValue).sorted())::text[]::key_scope[], \(ReachColumns.value(key.reach)),
                \(key.reach.eventKeyPrefix?.rawValue), \(now))
            on conflict (id) do nothing
            """)
    }
}
