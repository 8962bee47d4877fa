package import FoundationEssentials

/// The level each app was seen at, so that a change is told of once, whoever sees it.
package protocol QuotaLevels: Sendable {
    /// Whether anybody wants to hear of levels.
    func areWatched() async throws -> Bool

    /// Takes the quotas' levels down; each that changed is told of in the same transaction. An app never seen before
    /// counts as `ok`.
    func note(_ quotas: [Quota], now: Date) async throws
}
