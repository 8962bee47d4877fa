package import FoundationEssentials
package import Grandstand

/// An `EventStore` whose answers the test sets.
package struct FakeEvents: EventStore {
    package typealias Save =
        @Sendable (EventSpecification, AppReach, WriteCondition) throws -> (event: Event, created: Bool)

    package var find: @Sendable (EventKey) throws -> Event? = { _ in throw Unasked() }
    package var list: @Sendable (EventFilter, PageRequest) throws -> Page<Event> = { _, _ in throw Unasked() }
    package var save: Save = { _, _, _ in throw Unasked() }
    package var end: @Sendable (EventKey, _ sendsEnd: Bool, AppReach) throws -> Void = { _, _, _ in throw Unasked() }
    package var takeBack: @Sendable (EventKey, [AudienceSelector]?, AppReach) throws -> Reopening = { _, _, _ in
        throw Unasked()
    }
    /// Looks up names, with or without the newest content.
    package var look: @Sendable (Set<LookupName>, _ contentState: Bool) async throws -> [LookupName: LookupEntry] = {
        _, _ in throw Unasked()
    }

    package init() {}

    package func put(
        _ specification: EventSpecification, within reach: AppReach, by actor: AuditActor, if condition: WriteCondition,
        now: Date
    ) async throws -> (event: Event, created: Bool) { try save(specification, reach, condition) }
    package func event(_ key: EventKey, now: Date) async throws -> Event? { try find(key) }
    package func events(where filter: EventFilter, _ page: PageRequest, now: Date) async throws -> Page<Event> {
        try list(filter, page)
    }
    package func cancel(
        _ key: EventKey, sendingEnd: Bool, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws { try end(key, sendingEnd, reach) }
    package func reopen(
        _ key: EventKey, audiences: [AudienceSelector]?, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> Reopening { try takeBack(key, audiences, reach) }
    package func lookups(
        of names: Set<LookupName>, contentState: Bool, now: Date
    ) async throws -> [LookupName: LookupEntry] { try await look(names, contentState) }
}
