package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Collects in memory when each key was last used, and writes all of them every few seconds in one statement.
package final class KeyUses: KeyUseRecorder, Service {
    private let ledger: any KeyLedger
    private let interval: Duration
    private let logger: Logger
    private let uses = Mutex<[UUID: Date]>([:])

    package init(ledger: any KeyLedger, interval: Duration = .seconds(5), logger: Logger) {
        self.ledger = ledger
        self.interval = interval
        self.logger = logger
    }

    package func used(_ key: UUID, at now: Date) { uses.withLock { $0[key] = now } }

    /// Writes regularly until it is stopped, and then once more.
    package func run() async {
        let loop = WorkLoop<Never>(
            .init(pollInterval: interval, retry: interval), failure: "the last uses of keys could not be written",
            logger: logger, now: { Date() }
        ) {
            try await self.write()
            return .idle()
        }
        await loop.run()
        // A separate task, because this one may be cancelled.
        await Task { try? await write() }.value
    }

    /// Writes the uses since the last write. If it fails, they are written next time.
    func write() async throws {
        let batch = uses.withLock { uses in
            let batch = uses
            uses = [:]
            return batch
        }
        guard !batch.isEmpty else { return }
        do {
            try await ledger.used(batch)
        } catch {
            uses.withLock { $0.merge(batch) { newer, older in max(newer, older) } }
            throw error
        }
    }
}
