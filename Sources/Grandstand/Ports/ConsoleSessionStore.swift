package import FoundationEssentials

/// Sessions of the console, over all replicas.
package protocol ConsoleSessionStore: Sendable {
    /// Keeps a new session, and forgets those that are over.
    func begin(_ session: ConsoleSession) async throws

    /// The session of that name; `nil` when there is none.
    func session(_ id: [UInt8]) async throws -> ConsoleSession?

    /// Notes that a session was used. An earlier time than the one noted changes nothing.
    func used(_ id: [UInt8], at now: Date) async throws

    func end(_ id: [UInt8]) async throws
}

/// A key that somebody showed to the console. The browser has a secret; the session is named by its hash, so that who
/// reads the database can sign in nowhere.
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

    /// Seconds from signing in to the end, however busy: a shift.
    package static let lifetime: TimeInterval = 43_200
    /// Seconds without a page after which it ends.
    package static let idleTime: TimeInterval = 7_200
    /// Seconds between two notes of its use.
    package static let noteInterval: TimeInterval = 60

    package func isOver(at now: Date) -> Bool {
        now.timeIntervalSince(startedAt) >= Self.lifetime || now.timeIntervalSince(usedAt) >= Self.idleTime
    }
}

/// Keys by their names, for callers that are known by a session.
package protocol KeyDirectory: Sendable {
    /// The key, if it is valid now: not revoked, not expired.
    ///
    /// - Throws: `store-unavailable`.
    func validKey(_ id: UUID) async throws -> APIKey?
}
