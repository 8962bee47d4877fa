package import FoundationEssentials

/// The source of live views.
package protocol LiveStore: Sendable {
    /// The boards of these events, with only their parts within `reach`. Events that do not exist or are out of reach
    /// are missing.
    func boards(of keys: Set<EventKey>, within reach: AppReach, now: Date) async throws -> [EventKey: LiveBoard]
}
