internal import FoundationEssentials

/// Whether a connection to the database is a session there. A connection pooler may lend one session to several of its
/// clients, transaction by transaction (PgBouncer's `pool_mode` of `transaction` and `statement`): statements prepared,
/// channels LISTENed to and settings of a session are another client's then.
extension PostgresPool {
    /// Looks with two connections of its own. Only signs that cannot occur in a session of one's own count: a setting
    /// that vanished, or that another session has; a prepared statement of another. So it never takes a database for
    /// such a pooler that is none.
    ///
    /// - Throws: `PostgresError` when no connection can be made.
    package func sharesSessions() async throws -> Bool {
        // Waits for a server that is just starting, as the first query of a command does.
        try await withConnection(within: configuration.acquireTimeout) { _ in }
        let first = try await probe()
        do {
            // A client of PostgreSQL itself was told the number of its server process.
            let pid = try await first.query("select pg_backend_pid() as pid")[0].decode(Int.self, "pid")
            guard pid != first.backendPID else { return false }
            for _ in 0..<3 where try await sharesSessions(first) { return true }
            return false
        } catch let error as PostgresError {
            guard error.provesSharing else { throw error }
            return true
        }
    }

    private func sharesSessions(_ first: PostgresConnection) async throws -> Bool {
        let mark = UUID().uuidString
        try await first.query("select set_config('grandstand.session', \(mark), false)")
        guard try await Self.mark(of: first) == mark else { return true }
        let second = try await probe()
        do {
            if try await Self.mark(of: second) == mark { return true }
            // While it has the session that the first had, the first is lent another.
            try await second.script("begin")
            if try await Self.mark(of: second) == mark { return true }
            let own = try await Self.mark(of: first)
            try await second.script("rollback")
            return own != mark
        } catch let error as PostgresError where error.kind == .timedOut {
            // A pooler with one session to lend. It may lend it for as long as the client stays.
            return false
        }
    }

    private static func mark(of connection: PostgresConnection) async throws -> String? {
        try await connection.query(
            "select current_setting('grandstand.session', true) as mark", deadline: .seconds(2))[0]
            .decode(String?.self, "mark")
    }

    private func probe() async throws -> PostgresConnection {
        PostgresConnection(
            try await Connector(configuration: configuration, logger: logger).connect(), configuration: configuration)
    }
}

extension PostgresError {
    /// Whether it tells of a session that is not this connection's own. PgBouncer refuses transactions in its statement
    /// mode by words only.
    fileprivate var provesSharing: Bool {
        sqlState == .invalidSQLStatementName || sqlState == .duplicatePreparedStatement
            || message.contains("statement pooling mode")
    }
}
