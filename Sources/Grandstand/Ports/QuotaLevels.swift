package import FoundationEssentials

/// The last reported quota level of each app, so that a change is reported once, by one replica.
package protocol QuotaLevels: Sendable {
    /// Whether any webhook wants reports of levels.
    func areWatched() async throws -> Bool

    /// Stores the quotas' levels. Each change is queued for webhooks in the same transaction. An app without a stored
    /// level counts as `ok`.
    func note(_ quotas: [Quota], now: Date) async throws
}
