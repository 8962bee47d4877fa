/// Checks whether each connection has its own session. A connection pooler may lend one session to several clients,
/// transaction by transaction (PgBouncer's `pool_mode` of `transaction` and `statement`). Then prepared statements,
/// LISTEN and settings of a session belong to another client.
extension PostgresPool {
    /// Checks with a connection of the pool, and behind a pooler with two separate ones. The check counts only signs
    /// that are impossible with a separate session for each: a server process that changes, or that both connections
    /// have. So a normal database is never taken for such a pooler.
    ///
    /// - Throws: `PostgresError` if no connection can be opened.
    package func sharesSessions() async throws -> Bool {
        do {
            // Without a pooler, libpq knows the ID of the connection's server process, and no session is shared.
            if try await withConnection({ try await Self.pid(of: $0) == $0.backendPID }) { return false }
            let first = try await connector.connect()
            let pid = try await Self.pid(of: first)
            for _ in 0..<3 {
                let second = try await connector.connect()
                // During its transaction, `second` keeps one session. If `first` had this session before, `first` now
                // gets another one.
                if try await Self.pid(of: second, ["begin"]) == pid { return true }
                if try await Self.pid(of: first) != pid { return true }
                try await second.query("rollback")
            }
            return false
        } catch let error as PostgresError where error.kind == .timedOut {
            // The pooler has only one session, and may lend it to a client until the client disconnects. No session is
            // shared then.
            return false
        } catch let error as PostgresError where error.provesSharing {
            return true
        }
    }

    private static func pid(of connection: PostgresConnection, _ before: [PostgresQuery] = []) async throws -> Int {
        try await PostgresTimeLimit.$current.withValue(.forRequest(.seconds(10))) {
            try await connection.pipeline(before + ["select pg_backend_pid() as pid"])
        }[before.count][0].decode(Int.self, "pid")
    }
}

extension PostgresError {
    /// Whether the error shows that the connection has no session of its own. PgBouncer in statement mode refuses
    /// transactions with an error that can be recognised only by its message.
    fileprivate var provesSharing: Bool {
        sqlState == .invalidSQLStatementName || sqlState == .duplicatePreparedStatement
            || message.contains("statement pooling mode")
    }
}
