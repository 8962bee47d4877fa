package import FoundationEssentials

/// Sessions of the console, shared by all replicas.
package protocol ConsoleSessionStore: Sendable {
    /// Stores a new session, and deletes sessions that are over.
    func begin(_ session: ConsoleSession) async throws

    /// The session with this ID; `nil`: there is none.
    func session(_ id: [UInt8]) async throws -> ConsoleSession?

    /// Records that a session was used. A time before the recorded one changes nothing.
    func used(_ id: [UInt8], at now: Date) async throws

    func end(_ id: [UInt8]) async throws
}

/// A signed-in session of the console, with its API key. The browser has a secret. The session's ID is the hash of the
/// secret, so that a reader of the database cannot sign in.
package struct ConsoleSession: Sendable, Hashable {
    /// SHA-256 of the browser's secret.
    package var id: [UInt8]
    package var key: UUID
    package var startedAt: Date
    package var usedAt: Date

    package init(id: [UInt8], key: UUID, startedAt: Date, usedAt: Date) {
        self.id = id
        self.key = key
        self.startedAt = startedAt
        self.usedAt = usedAt
    }

    /// Seconds from sign-in until the session ends, even if it is used: one shift.
    package static let lifetime: TimeInterval = 43_200
    /// Seconds without a request after which the session ends.
    package static let idleTime: TimeInterval = 7_200
    /// Seconds between two records of its use.
    package static let noteInterval: TimeInterval = 60

    package func isOver(at now: Date) -> Bool {
        now.timeIntervalSince(startedAt) >= Self.lifetime || now.timeIntervalSince(usedAt) >= Self.idleTime
    }
}

/// Finds keys by their IDs, for callers with a session.
package protocol KeyDirectory: Sendable {
    /// The key, if it is valid now: not revoked, not expired.
    ///
    /// - Throws: `store-unavailable`.
    func validKey(_ id: UUID) async throws -> APIKey?
}
