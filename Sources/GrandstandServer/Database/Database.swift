package import Grandstand
package import Postgres
internal import Synchronization

/// The pool as the stores use it. A database that cannot be reached becomes the problem `store-unavailable`.
package struct Database: Sendable, PostgresQuerying {
    let pool: PostgresPool
    private let share: PostgresShare?
    /// Identifies the database. All pools of one database have the same value. So if a task has joined a transaction
    /// (`joining`), its work through any of these pools joins that transaction.
    private let identity: ObjectIdentifier

    /// Counts deliveries that got their final state, after the commit.
    private let countDelivery: Counter

    /// Whether the work of this object may take long. A request then gives up after 30 s at the earliest
    /// (`PostgresTimeLimit.long`), unless the database answers no caller at all.
    private var isLongWork = false

    /// The same database for work that may take long.
    var forLongWork: Database {
        var database = self
        database.isLongWork = true
        return database
    }

    /// - Parameters:
    ///   - share: the share of the pool's connections that this object uses; `nil`: it has no ceiling.
    ///   - other: an object for the same database with another pool or share.
    ///   - counting: counts deliveries that got their final state; `nil`: as `other` does.
    package init(
        _ pool: PostgresPool, share: PostgresShare? = nil, sharing other: Database? = nil, counting: Counter? = nil
    ) {
        self.pool = pool
        self.share = share
        identity = other?.identity ?? ObjectIdentifier(pool)
        let nobody: Counter = { _ in }
        self.countDelivery = counting ?? other.map(\.countDelivery) ?? nobody
    }

    @discardableResult
    package func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await translating {
            if let joined { return try await joined.query(query) }
            return try await pool.withConnection(of: share) { try await $0.query(query) }
        }
    }

    /// Runs several queries in one round trip, as one transaction. The same round trip commits it.
    @discardableResult
    func pipeline(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
        try await translating {
            if let joined { return try await joined.pipeline(queries) }
            return try await pool.withConnection(of: share) { try await $0.pipeline(queries) }
        }
    }

    /// Runs `body` in a transaction. The transaction commits when `body` returns and rolls back when `body` throws.
    ///
    /// Within `joining`, `body` is a part of the joined transaction: it commits with the rest. If it fails, the joined
    /// transaction must be rolled back.
    func transaction<Value: Sendable>(
        _ body: @Sendable (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        try await transaction(body, closing: { _ in [] }) { value, _ in value }
    }

    /// Runs `body` in a transaction whose last statements are known when `body` returns. These statements, those of
    /// the notes and COMMIT are one round trip.
    ///
    /// - Parameters:
    ///   - closing: makes the last statements from what `body` returned.
    ///   - value: makes the transaction's result from what `body` returned and the results of the last statements.
    func transaction<Work: Sendable, Value: Sendable>(
        _ body: @Sendable (PostgresConnection) async throws -> Work,
        closing: @Sendable (Work) -> [PostgresQuery],
        _ value: @Sendable (Work, [PostgresRows]) throws -> Value
    ) async throws -> Value {
        try await translating {
            if let joined {
                let work = try await body(joined)
                return try value(work, try await joined.pipeline(closing(work)))
            }
            let notes = Notes()
            let result = try await Self.$notes.withValue(notes) {
                var count = 0
                return try await pool.transaction(of: share, body) { work in
                    let last = closing(work)
                    count = last.count
                    return last + notes.news.withLock(\.statements)
                } _: { work, rows in
                    try value(work, Array(rows.prefix(count)))
                }
            }
            for occurrence in notes.news.withLock(\.occurrences) { countDelivery(occurrence) }
            for action in notes.afterCommit.withLock(\.self) { action() }
            return result
        }
    }

    // MARK: What a transaction notes

    private final class Notes: Sendable {
        let news = Mutex(WebhookNews())
        /// What follows the commit.
        let afterCommit = Mutex<[@Sendable () -> Void]>([])
    }

    /// What is noted in this task's transaction.
    @TaskLocal private static var notes: Notes?

    /// Adds to the notes of this task's transaction. Outside of a transaction they would be lost, which is a mistake of
    /// the caller.
    static func note(_ news: WebhookNews) {
        guard let notes else { return assert(news.isEmpty, "nothing can be noted outside of Database.transaction") }
        notes.news.withLock { $0.add(news) }
    }

    // MARK: Joining a transaction

    private struct Joined: Sendable {
        let database: ObjectIdentifier
        let connection: PostgresConnection
    }

    @TaskLocal private static var current: Joined?

    /// The connection whose transaction this task's work with the database joins; `nil`: there is none.
    private var joined: PostgresConnection? {
        Self.current.flatMap { $0.database == identity ? $0.connection : nil }
    }

    /// Whether this task is part of a transaction of its caller.
    var isJoined: Bool { joined != nil }

    /// Runs `action` when this task's work is committed: at once, or after the commit of the transaction that the task
    /// joined.
    func afterCommit(_ action: @escaping @Sendable () -> Void) {
        guard isJoined, let notes = Self.notes else { return action() }
        notes.afterCommit.withLock { $0.append(action) }
    }

    /// Runs `body` so that everything it does with this database joins the transaction of `connection`. `body` must
    /// wait for all tasks that it starts.
    func joining<Value: Sendable>(
        _ connection: PostgresConnection, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Self.$current.withValue(Joined(database: identity, connection: connection)) { try await body() }
    }

    private func translating<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            guard isLongWork, let timeLimit = PostgresTimeLimit.current else { return try await body() }
            return try await PostgresTimeLimit.$current.withValue(timeLimit.long) { try await body() }
        } catch let error as PostgresError {
            throw Problem.unavailable(error) ?? error
        }
    }
}

extension PostgresConfiguration {
    /// The session settings of the stores. JIT is off, because compiling a statement takes up to a second and no
    /// statement here runs that long: the first `align` over 10,000 channels took 0.76 s with `jit`, 0.01 s without.
    ///
    /// Sequential scans are off. Every statement can use an index. But statistics from before the first events were
    /// declared say that the table is empty. With sequential scans, declaring 10,000 events in a new database took up
    /// to 2.9 ms more for each channel.
    ///
    /// Servers that take no writes are refused: a standby, or a primary that was replaced.
    ///
    /// - Parameters:
    ///   - byKey: whether the statements of these sessions look up some hundred rows by key, as claims and settlements
    ///     do. Then nested loops over indexes are right whatever the statistics say. Minutes before kick-off the
    ///     statistics may still say that the table is empty: with a plan for an empty table, settling 100 messages took
    ///     over 30 s. Pending rows are in memory, so random reads are cheap. `Outbox.planning` makes the same settings for
    ///     a transaction.
    ///   - changes: is told when these sessions change the answers of lookups; `nil`: nobody is told.
    package static func stores(
        connectionString: String, connections: Int = 10, byKey: Bool = false, changes: LocalChanges? = nil
    ) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(connectionString: connectionString)
        configuration.maximumConnections = connections
        configuration.mustWrite = true
        configuration.sessionSettings = [
            "jit": "off", "enable_seqscan": "off",
            // A process that hangs in a transaction loses its locks after this time.
            "idle_in_transaction_session_timeout": "30s",
            // What was accepted survives a crash, whatever the settings of the role and the database are.
            "synchronous_commit": "on",
        ]
        if byKey {
            configuration.sessionSettings.merge(
                ["enable_hashjoin": "off", "enable_mergejoin": "off", "random_page_cost": "1.1"]) { $1 }
        }
        if let changes {
            configuration.onNotices = changes.hear
            configuration.sessionSettings.merge(LocalChanges.sessionSettings) { $1 }
        }
        return configuration
    }
}

extension Problem {
    /// The transaction was rolled back because other transactions had locked rows that it needed. This problem does not
    /// show the database's own message, because that message may contain data of rows.
    static let contention = Problem(
        .storeUnavailable,
        "Others changed the same data at the same time, so this request failed. A GET shows whether a part of it was done. Try again.",
        retryAfter: 1)

    /// The problem for a caller when the database cannot do its work now; it tells the operator what to do. `nil`: the
    /// database does its work and refused this statement. Requests succeed again as soon as the database works.
    static func unavailable(_ error: PostgresError) -> Problem? {
        if error.sqlState == .deadlockDetected || error.sqlState == .serializationFailure { return .contention }
        if let finding = DatabaseFinding(error) {
            let mayHaveChanged = error.kind == .timedOut || error.kind == .connectionLost
            return .unavailable(finding.trouble, isUnknown: mayHaveChanged)
        }
        guard error.kind == .poolExhausted || error.kind == .poolClosed else { return nil }
        return Problem(
            .storeUnavailable,
            "All database connections of this process were in use, and none became free in time; nothing was changed. "
                + "Try again. If this happens often, raise GRANDSTAND_DATABASE_CONNECTIONS or start another process.",
            retryAfter: 1)
    }
}
