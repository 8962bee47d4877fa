package import FoundationEssentials

/// The source of live views.
package protocol LiveStore: Sendable {
    /// The boards of these events, with what of them is within `reach`; an event that is not there, or out of reach, is
    /// missing.
    func boards(of keys: Set<EventKey>, within reach: AppReach, now: Date) async throws -> [EventKey: LiveBoard]
}
