internal import FoundationEssentials
internal import Synchronization

/// Collects in memory when each key was last used. All these times are written in one statement.
final class KeyUses: Sendable {
    private let record: @Sendable ([UUID: Date]) async throws -> Void
    private let uses = Mutex<[UUID: Date]>([:])

    /// - Parameter record: writes the times at which keys were last used.
    init(record: @escaping @Sendable ([UUID: Date]) async throws -> Void) { self.record = record }

    /// Notes that a key is in use. The method is cheap enough to be called for every request.
    func used(_ key: UUID, at now: Date) { uses.withLock { $0[key] = now } }

    /// Writes the uses since the last write. If the write fails, the next write includes these uses.
    func write() async throws {
        let batch = uses.withLock { uses in
            let batch = uses
            uses = [:]
            return batch
        }
        guard !batch.isEmpty else { return }
        do {
            try await record(batch)
        } catch {
            uses.withLock { $0.merge(batch) { newer, older in max(newer, older) } }
            throw error
        }
    }
}
