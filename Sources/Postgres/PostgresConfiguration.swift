/// How a pool reaches its database.
package struct PostgresConfiguration: Sendable {
    /// Goes to libpq as it is: a URI or keywords, several hosts, TLS modes, `target_session_attrs`.
    package var connectionString: String
    package var maximumConnections = 10
    /// For each host of the connection string, unless that says `connect_timeout`; whole seconds, 2 at least (libpq).
    /// Short, for a host that vanished says nothing and the next one is asked after that.
    package var connectTimeout: Duration = .seconds(3)
    /// For a query without a deadline of its own, of a task without `PostgresPatience`.
    package var queryTimeout: Duration = .seconds(30)
    /// How long a caller waits for a connection, new attempts included.
    package var acquireTimeout: Duration = .seconds(10)
    /// Of that, while the database takes no connections: a caller's turn may come late where all are in use, but a
    /// database that is away is said to be. An attempt that takes longer goes on for the callers to come.
    package var reachTimeout: Duration = .seconds(3_600)
    /// Only servers that take writes will do: no standby, no primary that was set aside. Of several hosts the one that
    /// does is found (`target_session_attrs=read-write`, unless the connection string says otherwise).
    package var mustWrite = false
    /// For processes that only read: of several hosts a standby is taken, the primary where there is none
    /// (`target_session_attrs=prefer-standby`, unless the connection string says otherwise). Nothing can be written.
    package var onlyReads = false
    /// Whether the database answers; pools of one database share it.
    package var health = PostgresHealth()
    /// How often a connection that listens is looked at while it is silent.
    package var listenerHeartbeat: Duration = .seconds(5)
    /// Shown in pg_stat_activity unless the connection string names one.
    package var applicationName = "grandstand"
    /// Settings of every session, by name; the server's, the role's and the connection string's are theirs to override.
    /// They are set after the connection is made, for connection poolers refuse unknown start-up parameters.
    package var sessionSettings: [String: String] = [:]
    /// Receives the notices that the server raised in a transaction; `nil`: notices are only logged.
    package var notices: PostgresNotices?
    /// Called with the time that each caller waited for its connection; `nil`: not reported.
    package var onWait: (@Sendable (Duration) -> Void)?
    /// Called with each error of the server, and of each attempt to connect; it must not block. `nil`: not reported.
    package var onFailure: (@Sendable (PostgresError) -> Void)?
    /// Prepared statements kept on a connection.
    package var statementCacheSize = 256

    package init(connectionString: String) { self.connectionString = connectionString }
}
