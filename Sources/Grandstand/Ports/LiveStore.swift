package import FoundationEssentials

/// The source of live views.
package protocol LiveStore: Sendable {
    /// Says which events this replica looks at, so that changes of those, and of no others, are notified of. Replaces
    /// what it said before; ends by itself.
    func watch(_ keys: Set<EventKey>, replica: UUID, now: Date, until: Date) async throws

    /// The boards of these events, with what of them is within `reach`; an event that is not there, or out of reach, is
    /// missing.
    func boards(of keys: Set<EventKey>, within reach: AppReach, now: Date) async throws -> [EventKey: LiveBoard]
}
