package import FoundationEssentials

/// Receipts: the states that sampled installations showed, and when.
package protocol ReceiptStore: Sendable {
    /// Records what an installation showed. What is known already, is of no event of its app, or is beyond
    /// `ReceiptBounds`, changes nothing.
    ///
    /// - Returns: how many of them are known now.
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func record(_ batch: ReceiptBatch, of id: InstallationID, secret: String, now: Date) async throws -> Int

    /// The receipts of an event, for each app and environment that something was sent to, or that reported.
    ///
    /// - Throws: `event-not-found`; `forbidden` out of `reach`.
    func receipts(
        of key: EventKey, within reach: AppReach
    ) async throws -> [(app: AppEnvironment, report: ReceiptReport)]
}
