package import FoundationEssentials
package import Grandstand
internal import Synchronization

/// Console sessions and their keys, in memory.
package final class FakeConsoleSessions: ConsoleSessionStore, KeyDirectory {
    private let sessions = Mutex<[[UInt8]: ConsoleSession]>([:])
    private let keys = Mutex<[UUID: APIKey]>([:])

    package init() {}

    package var all: [ConsoleSession] { sessions.withLock { Array($0.values) } }

    /// Makes a key valid; `nil`: the key is no longer valid.
    package func setKey(_ id: UUID, _ key: APIKey?) { keys.withLock { $0[id] = key } }

    package func begin(_ session: ConsoleSession) async throws { put(session) }

    package func put(_ session: ConsoleSession) { sessions.withLock { $0[session.id] = session } }

    package func session(_ id: [UInt8]) async throws -> ConsoleSession? { sessions.withLock { $0[id] } }

    package func used(_ id: [UInt8], at now: Date) async throws { sessions.withLock { $0[id]?.usedAt = now } }

    package func end(_ id: [UInt8]) async throws { _ = sessions.withLock { $0.removeValue(forKey: id) } }

    package func validKey(_ id: UUID) async throws -> APIKey? { keys.withLock { $0[id] } }
}
