/// Some callers of a pool, with a ceiling: they have at most `maximum` connections at a time, so that the others find
/// one.
package struct PostgresShare: Sendable, Hashable {
    let name: String
    let maximum: Int

    package init(_ name: String, most: Int) { (self.name, self.maximum) = (name, most) }
}

/// How a pool connects to its database.
package struct PostgresConfiguration: Sendable {
    /// Passed to libpq unchanged: a URI or keywords, several hosts, TLS modes, `target_session_attrs`.
    package var connectionString: String
    package var maximumConnections = 10
    /// The most connections that all callers with a `PostgresShare` have together.
    package var maximumShared = Int.max
    /// The time for a query without its own deadline, in a task without `PostgresTimeLimit`.
    package var queryTimeout: Duration = .seconds(30)
    /// How long a caller without a `PostgresTimeLimit` waits for a connection, including new attempts. If an attempt to
    /// connect takes longer, it continues for later callers.
    package var acquireTimeout: Duration = .seconds(10)
    /// Use only servers that accept writes, so no standby and no replaced primary. Of several hosts, the one that
    /// accepts writes is found (`target_session_attrs=read-write`, unless the connection string says otherwise).
    package var mustWrite = false
    /// Knows for how long the database has answered nobody. The pools of one database share it.
    package var health = PostgresHealth()
    /// The time between two checks of a connection that waits for notifications and receives nothing.
    package var listenerHeartbeat: Duration = .seconds(5)
    /// Settings of every session, by name. They override those of the server, the role and the connection string. They
    /// are set after the connection is made, because connection poolers refuse unknown start-up parameters.
    package var sessionSettings: [String: String] = [:]
    /// Called once for each transaction with notices (`raise notice`), with all of them in order. This happens after the
    /// transaction has ended and before its caller continues. Transactions that were rolled back, or whose end is
    /// unknown, are reported, too. The function must not block.
    package var onNotices: (@Sendable ([PostgresError]) -> Void)?
    /// Called with the time that each caller waited for its connection; `nil`: not reported.
    package var onWait: (@Sendable (Duration) -> Void)?
    /// Called with each error of the server and of each attempt to connect. The function must not block. `nil`: not
    /// reported.
    package var onFailure: (@Sendable (PostgresError) -> Void)?
    /// The most prepared statements of a connection.
    package var statementCacheSize = 256

    package init(connectionString: String) { self.connectionString = connectionString }
}
