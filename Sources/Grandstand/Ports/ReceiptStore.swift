package import FoundationEssentials

/// Receipts: the states that sampled installations showed, and when.
package protocol ReceiptStore: Sendable {
    /// Records the states that an installation showed. A receipt changes nothing if it is already stored, is not about
    /// an event of its app, or is beyond `ReceiptBounds`.
    ///
    /// - Returns: how many receipts of the batch are stored now, including those that were stored before.
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func record(_ batch: ReceiptBatch, of id: InstallationID, secret: String, now: Date) async throws -> Int

    /// The receipts of an event, for each app and environment that got a message or reported receipts.
    ///
    /// - Throws: `event-not-found`; `forbidden` for an event out of `reach`.
    func receipts(
        of key: EventKey, within reach: AppReach
    ) async throws -> [(app: AppEnvironment, report: ReceiptReport)]
}
