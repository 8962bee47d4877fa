package import FoundationEssentials

/// The level each app was seen at, so that a change is reported once, by one replica.
package protocol QuotaLevels: Sendable {
    /// Whether anybody wants to hear of levels.
    func areWatched() async throws -> Bool

    /// Stores the quotas' levels; each that changed is noted for webhooks in the same transaction. An app never seen
    /// before counts as `ok`.
    func note(_ quotas: [Quota], now: Date) async throws
}
