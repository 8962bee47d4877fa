package import FoundationEssentials
package import Grandstand

/// A `ReceiptStore` whose answers the test sets.
package struct FakeReceipts: ReceiptStore {
    package var take: @Sendable (ReceiptBatch) throws -> Int = { _ in throw Unasked() }
    package var tell: @Sendable (EventKey) throws -> [(app: AppEnvironment, report: ReceiptReport)] = { _ in
        throw Unasked()
    }

    package init() {}

    package func record(
        _ batch: ReceiptBatch, of id: InstallationID, secret: String, now: Date
    ) async throws -> Int { try take(batch) }
    package func receipts(
        of key: EventKey, within reach: AppReach
    ) async throws -> [(app: AppEnvironment, report: ReceiptReport)] { try tell(key) }
}
