internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// An `EventStore` whose answers the test sets.
struct FakeEvents: EventStore {
    typealias Save =
        @Sendable (EventSpecification, AppReach, WriteCondition) throws -> (event: Event, created: Bool)

    var find: @Sendable (EventKey) throws -> Event? = unasked
    var list: @Sendable (EventFilter, PageRequest) throws -> Page<Event> = unasked
    var save: Save = unasked
    var end: @Sendable (EventKey, _ sendsEnd: Bool, AppReach) throws -> Void = unasked
    var takeBack: @Sendable (EventKey, [AudienceSelector]?, AppReach) throws -> Reopening = unasked
    /// Looks up names, with or without the newest content.
    var look: @Sendable (Set<LookupName>, _ contentState: Bool) async throws -> [LookupName: LookupEntry] =
        unasked

    func put(
        _ specification: EventSpecification, within reach: AppReach, by actor: AuditActor, if condition: WriteCondition,
        now: Date
    ) async throws -> (event: Event, created: Bool) { try save(specification, reach, condition) }
    func event(_ key: EventKey, now: Date) async throws -> Event? { try find(key) }
    func events(where filter: EventFilter, _ page: PageRequest, now: Date) async throws -> Page<Event> {
        try list(filter, page)
    }
    func cancel(
        _ key: EventKey, sendingEnd: Bool, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws { try end(key, sendingEnd, reach) }
    func reopen(
        _ key: EventKey, audiences: [AudienceSelector]?, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> Reopening { try takeBack(key, audiences, reach) }
    func lookups(
        of names: Set<LookupName>, contentState: Bool, now: Date
    ) async throws -> [LookupName: LookupEntry] { try await look(names, contentState) }
}

/// An `Outbox` whose answers the test sets. It answers only the calls that HTTP routes and dispatchers make. All other
/// calls throw `Unasked`.
struct FakeOutbox: Outbox {
    typealias List = @Sendable (EventKey, AppReach, PageRequest) throws -> Page<Broadcast>

    var take: @Sendable ([BroadcastIntake]) throws -> [Result<Broadcast, Problem>] = unasked
    var rehearsal: @Sendable (BroadcastIntake) throws -> BroadcastRehearsal = unasked
    var hear: @Sendable (StateIntake) throws -> Broadcast? = unasked
    var find: @Sendable (UUID) throws -> Broadcast? = unasked
    var list: List = unasked
    var withdraw: @Sendable (UUID) throws -> Bool? = unasked
    var lease: @Sendable (LaneClaim) throws -> [ClaimedDelivery] = unasked
    var conclude: @Sendable (ClaimedDelivery, Settlement?) throws -> Bool = unasked
    var extend: @Sendable ([Int]) throws -> Void = unasked

    func accept(
        _ items: [BroadcastIntake], now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast, Problem>] { try take(items) }
    func rehearse(
        _ intake: BroadcastIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> BroadcastRehearsal { try rehearsal(intake) }
    func tell(
        _ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> Broadcast? { try hear(state) }
    func rehearse(
        _ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> StateRehearsal { throw Unasked() }
    func broadcast(_ id: UUID, within reach: AppReach) async throws -> Broadcast? { try find(id) }
    func broadcasts(
        of key: EventKey, within reach: AppReach, _ page: PageRequest
    ) async throws -> Page<Broadcast> { try list(key, reach, page) }
    func scheduled(
        of key: EventKey, within reach: AppReach, _ page: PageRequest
    ) async throws -> Page<Broadcast> { Page(items: [], nextCursor: nil) }
    func cancel(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool? {
        try withdraw(id)
    }

    func promote(now: Date, limit: Int, plan: @escaping DeliveryPlanning) async throws -> Int {
        throw Unasked()
    }
    func nextScheduled() async throws -> Date? { throw Unasked() }
    func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery] { try lease(claim) }
    func extendLeases(of lanes: [Int], replica: UUID, until: Date) async throws { try extend(lanes) }
    func settle(
        _ delivery: ClaimedDelivery, _ settlement: Settlement?, replica: UUID, now: Date
    ) async throws -> Bool { try conclude(delivery, settlement) }
    func nextDue(in environment: APNsEnvironment, limits: [LaneLimit]) async throws -> Date? { nil }
}

/// A `StartStore` whose answers the test sets.
struct FakeStarts: StartStore {
    var ask: @Sendable (EventKey, AppReach) throws -> Void = unasked
    var halt: @Sendable (EventKey, AppReach) throws -> Void = unasked
    var tell: @Sendable (EventKey, StartOutlook) throws -> [AudienceStart]? = unasked
    var list: @Sendable (AppEnvironment, PageRequest) throws -> Page<TopicFollowers> = unasked
    var lease: @Sendable (StartClaim) throws -> [StartShard] = unasked
    var conclude: @Sendable (StartShard, [StartOutcome]) throws -> Void = unasked
    var extend: @Sendable ([Int]) throws -> Void = unasked

    func startNow(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> String? {
        try ask(key, reach)
        return actor.text
    }
    func stop(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws {
        try halt(key, reach)
    }
    func report(
        of key: EventKey, within reach: AppReach, _ outlook: StartOutlook, now: Date
    ) async throws -> [AudienceStart]? {
        try tell(key, outlook)
    }
    func topics(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<TopicFollowers> {
        try list(app, page)
    }
    func claim(_ claim: StartClaim) async throws -> [StartShard] { try lease(claim) }
    func settle(
        _ shard: StartShard, _ verdicts: [StartOutcome], replica: UUID, now: Date
    ) async throws { try conclude(shard, verdicts) }
    func extendLeases(of runs: [Int], replica: UUID, until: Date) async throws { try extend(runs) }
    func nextDue(in environment: APNsEnvironment) async throws -> Date? { nil }
}
