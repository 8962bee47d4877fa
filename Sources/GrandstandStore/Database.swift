package import Grandstand
package import Postgres
internal import Synchronization

/// The pool as the stores use it: a database that cannot be reached is the caller's `store-unavailable`, not a crash.
package struct Database: Sendable, PostgresQuerying {
    let pool: PostgresPool
    /// Which database this is, whichever of its pools: a transaction that was joined is joined by all of them.
    private let identity: ObjectIdentifier

    /// Counts the deliveries that come to their end, when that is committed.
    private let counting: Counting

    /// Whether its work may take long: a request gives it up only when the database answers nobody.
    private var isLong = false

    /// The same database for work that may take long.
    package var forLongWork: Database {
        var database = self
        database.isLong = true
        return database
    }

    /// - Parameters:
    ///   - other: a database of which `pool` is another pool.
    ///   - counting: counts the deliveries that come to their end; `nil`: as the other does.
    package init(_ pool: PostgresPool, sharing other: Database? = nil, counting: Counting? = nil) {
        self.pool = pool
        identity = other?.identity ?? ObjectIdentifier(pool)
        let nobody: Counting = { _ in }
        let others: Counting = if let other { other.counting } else { nobody }
        self.counting = if let counting { counting } else { others }
    }

    @discardableResult
    package func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await translating {
            if let joined { return try await joined.query(query) }
            return try await pool.query(query)
        }
    }

    /// Runs several queries in one round trip; they are one transaction, which commits with it.
    @discardableResult
    func pipeline(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
        try await translating { try await pool.withConnection { try await $0.pipeline(queries) } }
    }

    /// Runs `body` in a transaction that commits when it returns and rolls back when it throws.
    ///
    /// Within `joining` it is a part of the transaction that was joined: it is undone alone, and commits with the rest.
    func transaction<Value: Sendable>(
        _ body: @Sendable (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        try await translating {
            guard let joined else { return try await counted { try await pool.transaction(body) } }
            try await joined.query("savepoint part")
            do {
                return try await counted {
                    let value = try await body(joined)
                    try await joined.query("release savepoint part")
                    return value
                }
            } catch {
                try await joined.query("rollback to savepoint part")
                throw error
            }
        }
    }

    /// The same for a transaction whose last statements are known when `body` returns: they and COMMIT are one round
    /// trip.
    ///
    /// - Parameters:
    ///   - closing: those statements, from what `body` returned.
    ///   - value: the transaction's result, from that and their results.
    func transaction<Work: Sendable, Value: Sendable>(
        _ body: @Sendable (PostgresConnection) async throws -> Work,
        closing: @Sendable (Work) -> [PostgresQuery],
        _ value: @Sendable (Work, [PostgresRows]) throws -> Value
    ) async throws -> Value {
        guard isJoined else {
            return try await translating {
                try await counted { try await pool.transaction(body, closing: closing, value) }
            }
        }
        return try await transaction { connection in
            let work = try await body(connection)
            return try value(work, try await connection.pipeline(closing(work)))
        }
    }

    // MARK: Counting

    /// Deliveries that a transaction brings to their end.
    final class Ends: Sendable {
        fileprivate let ends = Mutex<[Occurrence]>([])

        func add(_ ends: [Occurrence]) { self.ends.withLock { $0 += ends } }
    }

    /// Those of the transaction, or part of one, that this task is in.
    @TaskLocal static var ends: Ends?

    /// Runs a transaction, or a part of one, and counts the deliveries it settled once that is committed.
    private func counted<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let ends = Ends()
        let value = try await Self.$ends.withValue(ends) { try await body() }
        let all = ends.ends.withLock { $0 }
        if !all.isEmpty { afterCommit { [counting] in for end in all { counting(end) } } }
        return value
    }

    // MARK: Joining a transaction

    private struct Joined: Sendable {
        let database: ObjectIdentifier
        let connection: PostgresConnection
        let commit: Commit
    }

    /// Work that waits for the end of a transaction that was joined.
    final class Commit: Sendable {
        private let actions = Mutex<[@Sendable () -> Void]>([])

        fileprivate func add(_ action: @escaping @Sendable () -> Void) { actions.withLock { $0.append(action) } }

        /// The transaction has committed, and nothing joins it any more.
        func happened() {
            for action in actions.withLock({ $0 }) { action() }
        }
    }

    @TaskLocal private static var current: Joined?

    /// The connection whose transaction everything of this task joins.
    private var joined: PostgresConnection? {
        Self.current.flatMap { $0.database == identity ? $0.connection : nil }
    }

    /// Whether this task is part of a transaction of its caller.
    var isJoined: Bool { joined != nil }

    /// Runs `action` when this task's work is committed: at once, or after the transaction that was joined.
    func afterCommit(_ action: @escaping @Sendable () -> Void) {
        guard let current = Self.current, current.database == identity else { return action() }
        current.commit.add(action)
    }

    /// Runs `body` so that all it does with this database joins the transaction of `connection`. It must not go on in
    /// tasks that outlive it.
    func joining<Value: Sendable>(
        _ connection: PostgresConnection, _ commit: Commit, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let joined = Joined(database: identity, connection: connection, commit: commit)
        return try await Self.$current.withValue(joined) { try await body() }
    }

    private func translating<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            guard isLong, let patience = PostgresPatience.current else { return try await body() }
            return try await PostgresPatience.$current.withValue(patience.long) { try await body() }
        } catch let error as PostgresError where error.meansContention {
            throw Problem.contention
        } catch let error as PostgresError {
            guard let problem = Problem.unavailable(error) else { throw error }
            throw problem
        }
    }
}

extension PostgresConfiguration {
    /// How the stores want their sessions. Compiling a statement takes up to a second, and none of ours runs that long:
    /// the first `align` over 10,000 channels took 0.76 s with `jit`, 0.01 s without.
    ///
    /// Every statement of ours has an index for what it asks, and statistics made before a season was declared say that
    /// the table is empty: with sequential scans allowed, declaring 10,000 events in a new database took up to 2.9 ms
    /// more for each channel.
    ///
    /// They are for servers that take writes: a standby, or a primary that was set aside, is refused.
    ///
    /// - Parameter changes: notified of changes of lookups' answers by these sessions; `nil`: not notified.
    package static func stores(
        connectionString: String, connections: Int = 10, changes: LocalChanges? = nil
    ) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(connectionString: connectionString)
        configuration.maximumConnections = connections
        // One host that vanished (`connectTimeout`) and the next one: less than clients wait for an answer.
        configuration.reachTimeout = .seconds(4)
        configuration.mustWrite = true
        configuration.sessionSettings = [
            "jit": "off", "enable_seqscan": "off",
            // A process that hangs in a transaction gives its locks up.
            "idle_in_transaction_session_timeout": "30s",
        ]
        if let changes {
            configuration.notices = changes.notices
            configuration.sessionSettings.merge(LocalChanges.sessionSettings) { $1 }
        }
        return configuration
    }

    /// How the outbox wants its sessions. Its statements look up some hundred rows by key, so nested loops over indexes
    /// are right whatever the statistics say; and they say the table is empty when it was, minutes before kick-off.
    /// Settling 100 messages took over 30 s by a plan made for an empty table.
    ///
    /// Connections of its own also mean that a crowd that looks things up does not make a goal wait; nor, for claims
    /// and verdicts, do the calls that bring work.
    package static func outbox(
        connectionString: String, connections: Int = 6, changes: LocalChanges? = nil
    ) -> PostgresConfiguration {
        var configuration = stores(connectionString: connectionString, connections: connections, changes: changes)
        for plan in ["enable_hashjoin", "enable_mergejoin"] {
            configuration.sessionSettings[plan] = "off"
        }
        // Pending rows are in memory.
        configuration.sessionSettings["random_page_cost"] = "1.1"
        return configuration
    }
}

extension Problem {
    /// Others had locked what this needed, and it was undone for that. It has none of the database's words, which may have
    /// what is in rows.
    static let contention = Problem(
        .storeUnavailable,
        "Others changed the same at the same time; nothing was changed unless it says so later. Try again.",
        retryAfter: 1)
}

extension Problem {
    /// The problem that tells a caller that the database cannot do its work now, and the operator what to do; `nil`: it
    /// did its work, and refused this. Whatever it was, requests succeed again as soon as the database does.
    static func unavailable(_ error: PostgresError) -> Problem? {
        if let finding = DatabaseFinding(error) {
            let mayHaveChanged = error.kind == .timedOut || error.kind == .connectionLost
            return .unavailable(finding.trouble, isUnknown: mayHaveChanged)
        }
        guard error.meansUnavailable else { return nil }
        return Problem(
            .storeUnavailable,
            "No connection to the database became free in time: all of this process are in use; nothing was changed. Try "
                + "again; where this stays so, raise GRANDSTAND_DATABASE_CONNECTIONS or start another process.",
            retryAfter: 1)
    }
}

extension DatabaseFinding {
    /// What an error says of the database; `nil`: nothing, it is about the statement, the caller or this process.
    package init?(_ error: PostgresError) {
        let failure: DatabaseTrouble.Failure
        switch error.kind {
        case .server: failure = .refused
        case .connectionFailed: failure = .connecting
        case .connectionLost: failure = .lost
        case .timedOut: failure = error.isUnconfirmed ? .unconfirmed : .timedOut
        case .cancelled, .poolClosed, .poolExhausted, .decoding, .misuse: return nil
        }
        guard
            let trouble = DatabaseTrouble(failure, sqlState: error.sqlState?.rawValue, message: error.message)
        else { return nil }
        self.init(trouble, cause: "\(error)")
    }
}

extension PostgresError {
    /// Whether another transaction was in the way: the same may succeed at once.
    var meansContention: Bool { sqlState == .deadlockDetected || sqlState == .serializationFailure }

    /// Whether the database could not be asked, in contrast to having refused.
    var meansUnavailable: Bool {
        switch kind {
        case .connectionFailed, .connectionLost, .timedOut, .poolExhausted, .poolClosed: true
        default: isTransient
        }
    }
}
