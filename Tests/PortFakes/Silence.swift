package import FoundationEssentials
package import Grandstand

/// Whatever a running server listens to and nobody says: nothing is read, nothing wakes.
package struct Silence: LookupSource, LiveStore, WakeSignals {
    package init() {}

    package func announcements() -> AsyncStream<LookupAnnouncement> { AsyncStream { $0.finish() } }
    package func position() async throws -> LookupPosition { throw Unasked() }
    package func changes(
        since position: LookupPosition
    ) async throws -> (changes: [LookupChange], position: LookupPosition) { throw Unasked() }
    package func tidy() async throws { throw Unasked() }
    package func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] { throw Unasked() }
    package func page(
        after: EventKey?, limit: Int
    ) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?) { throw Unasked() }

    package func watch(_ keys: Set<EventKey>, replica: UUID, now: Date, until: Date) async throws { throw Unasked() }
    package func boards(
        of keys: Set<EventKey>, within reach: AppReach, now: Date
    ) async throws -> [EventKey: LiveBoard] { throw Unasked() }

    package func wakes(_ topic: WakeTopic) -> AsyncStream<Void> { AsyncStream { $0.finish() } }
    package func names(_ topic: WakeTopic) -> AsyncStream<WakeName> { AsyncStream { $0.finish() } }
}
