internal import FoundationEssentials
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Collects in memory when each key was last used. Every few seconds, it writes all these times in one statement.
final class KeyUses: Service {
    private let record: @Sendable ([UUID: Date]) async throws -> Void
    private let interval: Duration
    private let logger: Logger
    private let uses = Mutex<[UUID: Date]>([:])

    /// - Parameter record: writes the times at which keys were last used.
    init(
        interval: Duration = .seconds(5), logger: Logger,
        record: @escaping @Sendable ([UUID: Date]) async throws -> Void
    ) {
        self.record = record
        self.interval = interval
        self.logger = logger
    }

    /// Notes that a key is in use. The method is cheap enough to be called for every request.
    func used(_ key: UUID, at now: Date) { uses.withLock { $0[key] = now } }

    /// Writes regularly until the service is stopped, and once more after the stop.
    func run() async {
        let loop = WorkLoop<Never>(
            .init(pollInterval: interval, retry: interval), failure: "the last uses of keys could not be written",
            logger: logger, now: { Date() }
        ) {
            try await self.write()
            return .idle()
        }
        await loop.run()
        // The last write runs in a separate task, because the present task may be cancelled.
        await Task { try? await write() }.value
    }

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
