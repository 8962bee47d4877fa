internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The console's sessions in the table `console_sessions`.
struct PostgresConsoleSessionStore: ConsoleSessionStore {
    private let database: Database

    init(_ database: Database) { self.database = database }

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

    func session(_ id: [UInt8]) async throws -> ConsoleSession? {
        try await database.query(
            "select key, started_at, used_at from console_sessions where id = \(id)"
        ).first.map { row in
            ConsoleSession(
                id: id, key: try row.decode("key"), startedAt: try row.decode("started_at"),
                usedAt: try row.decode("used_at"))
        }
    }

    func used(_ id: [UInt8], at now: Date) async throws {
        try await database.query(
            "update console_sessions set used_at = \(now) where id = \(id) and used_at < \(now)")
    }

    func end(_ id: [UInt8]) async throws {
        try await database.query("delete from console_sessions where id = \(id)")
    }
}
