internal import FoundationEssentials

/// Checks whether each connection has its own session. A connection pooler may lend one session to several clients,
/// transaction by transaction (PgBouncer's `pool_mode` of `transaction` and `statement`). Then prepared statements,
/// LISTEN and settings of a session belong to another client.
extension PostgresPool {
    /// Checks with two separate connections. The check counts only signs that are impossible in a separate session: a
    /// setting that disappeared or that another session has, or another session's prepared statement. So a normal
    /// database is never taken for such a pooler.
    ///
    /// - Throws: `PostgresError` if no connection can be opened.
    package func sharesSessions() async throws -> Bool {
        // Waits for a server that is still starting.
        try await withConnection { _ in }
        let first = try await connector.connect()
        do {
            // Without a pooler, libpq knows the ID of the connection's server process, and no session is shared.
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
        let second = try await connector.connect()
        do {
            if try await Self.mark(of: second) == mark { return true }
            // During its transaction, `second` keeps one session. If `first` had this session before, `first` now gets
            // another one.
            try await second.script("begin")
            if try await Self.mark(of: second) == mark { return true }
            let own = try await Self.mark(of: first)
            try await second.script("rollback")
            return own != mark
        } catch let error as PostgresError where error.kind == .timedOut {
            // The pooler has only one session, and may lend it to a client until the client disconnects. No session is
            // shared then.
            return false
        }
    }

    private static func mark(of connection: PostgresConnection) async throws -> String? {
        try await PostgresTimeLimit.$current.withValue(.request(.seconds(2))) {
            try await connection.query("select current_setting('grandstand.session', true) as mark")
        }[0].decode(String?.self, "mark")
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
