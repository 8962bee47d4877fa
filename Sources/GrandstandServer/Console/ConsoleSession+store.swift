internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The console's sessions in the table `console_sessions`, shared by all replicas.
struct ConsoleSessionStore: Sendable {
    let database: Database

    /// Stores a new session, and deletes sessions that are over.
    func begin(_ session: ConsoleSession) async throws {
        let now = session.startedAt
        try await database.transaction { connection in
            _ = try await connection.pipeline([
                """
                delete from console_sessions
                where started_at < \(now.addingTimeInterval(-ConsoleSession.lifetime))
                    or used_at < \(now.addingTimeInterval(-ConsoleSession.idleTime))
                """,
                """
                insert into console_sessions (id, key, started_at, used_at)
                values (\(session.id), \(session.key), \(now), \(session.usedAt))
                """,
            ])
        }
    }

    /// The session with this ID; `nil`: there is none.
    func session(_ id: [UInt8]) async throws -> ConsoleSession? {
        try await database.query(
            "select key, started_at, used_at from console_sessions where id = \(id)"
        ).first.map { row in
            ConsoleSession(
                id: id, key: try row.decode("key"), startedAt: try row.decode("started_at"),
                usedAt: try row.decode("used_at"))
        }
    }

    /// Records that a session was used. A time before the recorded one changes nothing.
    func used(_ id: [UInt8], at now: Date) async throws {
        try await database.query(
            "update console_sessions set used_at = \(now) where id = \(id) and used_at < \(now)")
    }

    func end(_ id: [UInt8]) async throws {
        try await database.query("delete from console_sessions where id = \(id)")
    }
}

/// A signed-in session of the console, with its API key. The browser has a secret. The session's ID is the hash of the
/// secret, so that a reader of the database cannot sign in.
struct ConsoleSession {
    /// SHA-256 of the browser's secret.
    var id: [UInt8]
    var key: UUID
    var startedAt: Date
    var usedAt: Date

    /// Seconds from sign-in until the session ends, even if it is used: one shift.
    static let lifetime: TimeInterval = 43_200
    /// Seconds without a request after which the session ends.
    static let idleTime: TimeInterval = 7_200
    /// Seconds between two records of its use.
    static let noteInterval: TimeInterval = 60

    func isOver(at now: Date) -> Bool {
        now.timeIntervalSince(startedAt) >= Self.lifetime || now.timeIntervalSince(usedAt) >= Self.idleTime
    }
}
