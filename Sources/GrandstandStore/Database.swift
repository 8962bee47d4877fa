internal import Grandstand
package import Postgres

/// The pool as the stores use it: a database that cannot be reached is the caller's `store-unavailable`, not a crash.
package struct Database: Sendable {
    let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    @discardableResult
    func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await translating { try await pool.query(query) }
    }

    /// Runs `body` in a transaction that commits when it returns and rolls back when it throws.
    func transaction<Value: Sendable>(
        _ body: @Sendable (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        try await translating { try await pool.transaction(body) }
    }

    private func translating<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError where error.meansUnavailable {
            throw Problem(
                .storeUnavailable,
                "The database did not answer; nothing was changed unless it says so later. Try again.",
                retryAfter: 1)
        }
    }
}

extension PostgresConfiguration {
    /// How the stores want their sessions. Compiling a statement takes up to a second, and none of ours runs that long:
    /// the first `align` over 10,000 channels took 0.76 s with `jit`, 0.01 s without.
    package static func stores(connectionString: String) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(connectionString: connectionString)
        configuration.sessionSettings = ["jit": "off"]
        return configuration
    }

    /// How the outbox wants its sessions. Its statements look up some hundred rows by key, so nested loops over indexes
    /// are right whatever the statistics say; and they say the table is empty when it was, minutes before kick-off.
    /// Settling 100 messages took over 30 s by a plan made for an empty table, 0.01 s by this one.
    ///
    /// Connections of its own also mean that a crowd that looks things up does not make a goal wait.
    package static func outbox(connectionString: String) -> PostgresConfiguration {
        var configuration = stores(connectionString: connectionString)
        configuration.maximumConnections = 6
        for plan in ["enable_seqscan", "enable_hashjoin", "enable_mergejoin"] {
            configuration.sessionSettings[plan] = "off"
        }
        return configuration
    }
}

extension PostgresError {
    /// Whether the database could not be asked, in contrast to having refused.
    var meansUnavailable: Bool {
        switch kind {
        case .connectionFailed, .connectionLost, .timedOut, .poolExhausted, .poolClosed: true
        default: isTransient
        }
    }
}
