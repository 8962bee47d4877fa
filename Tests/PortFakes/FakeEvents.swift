package import APNsWire
package import FoundationEssentials
package import Grandstand

/// An `EventStore` whose answers the test sets.
package struct FakeEvents: EventStore {
    package typealias Save =
        @Sendable (EventSpecification, AppReach, WriteCondition) throws -> (event: Event, created: Bool)

    package var find: @Sendable (EventKey) throws -> Event? = unasked
    package var list: @Sendable (EventFilter, PageRequest) throws -> Page<Event> = unasked
    package var save: Save = unasked
    package var end: @Sendable (EventKey, _ sendsEnd: Bool, AppReach) throws -> Void = unasked
    package var takeBack: @Sendable (EventKey, [AudienceSelector]?, AppReach) throws -> Reopening = unasked
    /// Looks up names, with or without the newest content.
    package var look: @Sendable (Set<LookupName>, _ contentState: Bool) async throws -> [LookupName: LookupEntry] =
        unasked

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

/// An `Outbox` whose answers the test sets. It answers only the calls that HTTP routes and dispatchers make. All other
/// calls throw `Unasked`.
package struct FakeOutbox: Outbox {
    package typealias List = @Sendable (EventKey, AppReach, PageRequest) throws -> Page<Broadcast>

    package var take: @Sendable ([BroadcastIntake]) throws -> [Result<Broadcast, Problem>] = unasked
    package var rehearsal: @Sendable (BroadcastIntake) throws -> BroadcastRehearsal = unasked
    package var hear: @Sendable (StateIntake) throws -> Broadcast? = unasked
    package var find: @Sendable (UUID) throws -> Broadcast? = unasked
    package var list: List = unasked
    package var withdraw: @Sendable (UUID) throws -> Bool? = unasked
    package var lease: @Sendable (LaneClaim) throws -> [ClaimedDelivery] = unasked
    package var conclude: @Sendable (ClaimedDelivery, Settlement?) throws -> Bool = unasked
    package var extend: @Sendable ([Int]) throws -> Void = unasked

    package init() {}

    package func accept(
        _ items: [BroadcastIntake], now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast, Problem>] { try take(items) }
    package func rehearse(
        _ intake: BroadcastIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> BroadcastRehearsal { try rehearsal(intake) }
    package func tell(
        _ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> Broadcast? { try hear(state) }
    package func rehearse(
        _ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> StateRehearsal { throw Unasked() }
    package func broadcast(_ id: UUID, within reach: AppReach) async throws -> Broadcast? { try find(id) }
    package func broadcasts(
        of key: EventKey, within reach: AppReach, _ page: PageRequest
    ) async throws -> Page<Broadcast> { try list(key, reach, page) }
    package func scheduled(
        of key: EventKey, within reach: AppReach, _ page: PageRequest
    ) async throws -> Page<Broadcast> { Page(items: [], nextCursor: nil) }
    package func cancel(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool? {
        try withdraw(id)
    }

    package func promote(now: Date, limit: Int, plan: @escaping DeliveryPlanning) async throws -> Int {
        throw Unasked()
    }
    package func nextScheduled() async throws -> Date? { throw Unasked() }
    package func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery] { try lease(claim) }
    package func extendLeases(of lanes: [Int], replica: UUID, until: Date) async throws { try extend(lanes) }
    package func settle(
        _ delivery: ClaimedDelivery, _ settlement: Settlement?, replica: UUID, now: Date
    ) async throws -> Bool { try conclude(delivery, settlement) }
    package func nextDue(in environment: APNsEnvironment, limits: [LaneLimit]) async throws -> Date? { nil }
}

/// A `StartStore` whose answers the test sets.
package struct FakeStarts: StartStore {
    package var ask: @Sendable (EventKey, AppReach) throws -> Void = unasked
    package var halt: @Sendable (EventKey, AppReach) throws -> Void = unasked
    package var tell: @Sendable (EventKey, StartOutlook) throws -> [AudienceStart]? = unasked
    package var list: @Sendable (AppEnvironment, PageRequest) throws -> Page<TopicFollowers> = unasked
    package var lease: @Sendable (StartClaim) throws -> [StartShard] = unasked
    package var conclude: @Sendable (StartShard, [StartOutcome]) throws -> Void = unasked
    package var extend: @Sendable ([Int]) throws -> Void = unasked

    package init() {}

    package func startNow(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws
        -> String?
    {
        try ask(key, reach)
        return actor.text
    }
    package func stop(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws {
        try halt(key, reach)
    }
    package func report(
        of key: EventKey, within reach: AppReach, _ outlook: StartOutlook, now: Date
    ) async throws -> [AudienceStart]? {
        try tell(key, outlook)
    }
    package func topics(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<TopicFollowers> {
        try list(app, page)
    }
    package func claim(_ claim: StartClaim) async throws -> [StartShard] { try lease(claim) }
    package func settle(
        _ shard: StartShard, _ verdicts: [StartOutcome], replica: UUID, now: Date
    ) async throws { try conclude(shard, verdicts) }
    package func extendLeases(of runs: [Int], replica: UUID, until: Date) async throws { try extend(runs) }
    package func nextDue(in environment: APNsEnvironment) async throws -> Date? { nil }
}
