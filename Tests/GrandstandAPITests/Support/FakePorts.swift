internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// A port was asked for what its test does not expect. The router answers 500 then, so a test of a refusal shows that
/// nothing was asked before it.
struct Unasked: Error {}

// The ports as values: what a test expects to be asked is a function of its own, all else is `Unasked`.

struct FakeApps: AppStore {
    var find: @Sendable (BundleID) throws -> App? = { _ in throw Unasked() }
    var list: @Sendable (PageRequest, AppReach) throws -> Page<App> = { _, _ in throw Unasked() }
    var save: @Sendable (App, WriteCondition) throws -> (app: App, created: Bool) = { _, _ in throw Unasked() }

    func app(_ bundleID: BundleID) async throws -> App? { try find(bundleID) }
    func apps(_ page: PageRequest, within reach: AppReach) async throws -> Page<App> { try list(page, reach) }
    func put(
        _ app: App, by actor: AuditActor, if condition: WriteCondition
    ) async throws -> (app: App, created: Bool) { try save(app, condition) }
    func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws { throw Unasked() }
}

struct FakeEvents: EventStore {
    var find: @Sendable (EventKey) throws -> Event? = { _ in throw Unasked() }
    var list: @Sendable (EventFilter, PageRequest) throws -> Page<Event> = { _, _ in throw Unasked() }
    var save: @Sendable (EventSpecification, AppReach, WriteCondition) throws -> (event: Event, created: Bool) = {
        _, _, _ in throw Unasked()
    }

    func put(
        _ specification: EventSpecification, within reach: AppReach, by actor: AuditActor, if condition: WriteCondition,
        now: Date
    ) async throws -> (event: Event, created: Bool) { try save(specification, reach, condition) }
    func event(_ key: EventKey, now: Date) async throws -> Event? { try find(key) }
    func events(where filter: EventFilter, _ page: PageRequest, now: Date) async throws -> Page<Event> {
        try list(filter, page)
    }
    func cancel(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws {
        throw Unasked()
    }
    func lookups(
        of names: Set<LookupName>, contentState: Bool, now: Date
    ) async throws -> [LookupName: LookupEntry] { throw Unasked() }
}

struct FakeChannels: ChannelStore {
    var find: @Sendable (UUID) throws -> Channel? = { _ in throw Unasked() }

    func channel(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment
    ) async throws -> Channel? { try find(id) }
    func reserve(_ draft: ChannelDraft, now: Date, leasedUntil: Date) async throws -> ChannelTask { throw Unasked() }
    func `import`(_ channel: ChannelImport, by actor: AuditActor, now: Date) async throws -> Channel {
        throw Unasked()
    }
    func channels(
        of bundleID: BundleID, in environment: APNsEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Page<Channel> { throw Unasked() }
    func unmanagedChannels(
        of bundleID: BundleID, in environment: APNsEnvironment, _ page: PageRequest
    ) async throws -> Page<UnmanagedChannel> { throw Unasked() }
    func align(now: Date, tenure: ChannelTenure) async throws -> Int { throw Unasked() }
    func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask] { throw Unasked() }
    func nextDue(now: Date) async throws -> Date? { throw Unasked() }
    func beginCall(of task: ChannelTask, now: Date) async throws -> Bool { throw Unasked() }
    func beginDeletion(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment, force: Bool, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask { throw Unasked() }
    func reclaim(
        _ app: Audience.Selector, limit: Int, now: Date, leasedUntil: Date
    ) async throws -> [ChannelTask] { throw Unasked() }
    func record(
        _ outcome: ChannelOutcome, of task: ChannelTask, by actor: AuditActor, now: Date
    ) async throws -> Channel { throw Unasked() }
    func address(of bundleID: BundleID, in environment: APNsEnvironment) async throws -> APNsAddress? {
        throw Unasked()
    }
    func quotas(now: Date, tenure: ChannelTenure) async throws -> [Quota] { throw Unasked() }
}

struct FakeOutbox: Outbox {
    var take: @Sendable ([BroadcastIntake]) throws -> [Result<Broadcast, Problem>] = { _ in throw Unasked() }
    var find: @Sendable (UUID) throws -> Broadcast? = { _ in throw Unasked() }
    var withdraw: @Sendable (UUID) throws -> Bool? = { _ in throw Unasked() }

    func accept(
        _ items: [BroadcastIntake], now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast, Problem>] { try take(items) }
    func broadcast(_ id: UUID, within reach: AppReach) async throws -> Broadcast? { try find(id) }
    func cancel(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool? {
        try withdraw(id)
    }
    func broadcasts(
        of key: EventKey, within reach: AppReach, _ page: PageRequest
    ) async throws -> Page<Broadcast> { throw Unasked() }
    func promote(now: Date, limit: Int, plan: @escaping DeliveryPlanning) async throws -> Int { throw Unasked() }
    func nextScheduled() async throws -> Date? { throw Unasked() }
    func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery] { throw Unasked() }
    func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws { throw Unasked() }
    func settle(_ settlements: [Settlement], replica: UUID, now: Date) async throws { throw Unasked() }
    func release(_ deliveries: [ClaimedDelivery], replica: UUID, now: Date) async throws { throw Unasked() }
    func nextDue(in environment: APNsEnvironment) async throws -> Date? { throw Unasked() }
}

struct FakeQuirks: QuirkStore {
    var known: [Quirk] = []

    func quirks(of bundleID: BundleID) async throws -> [Quirk] { known }
    func beginExamination(
        of name: Quirk.Name, for app: Audience.Selector, concludedSince since: Date, now: Date, leasedUntil: Date
    ) async throws -> ExaminationStart { throw Unasked() }
    func conclude(_ quirk: Quirk, for app: Audience.Selector, by actor: AuditActor) async throws { throw Unasked() }
    func noteCapability(
        isOn: Bool, for app: Audience.Selector, evidence: String, isBroadcast: Bool, calledAt: Date, now: Date
    ) async throws { throw Unasked() }
    func abandonExamination(of name: Quirk.Name, for app: Audience.Selector) async throws { throw Unasked() }
}

/// Apple is never asked by what is tested here; only the key files are looked at.
struct FakeGateway: APNsGateway {
    var state = KeyFileState.missing

    func keyFile(of credentials: Credentials) async -> KeyFileState { state }
    func send(_ message: BroadcastMessage, to address: APNsAddress) async -> APNsAnswer<Void> { .unanswered("unasked") }
    func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String> { .unanswered("unasked") }
    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        .unanswered("unasked")
    }
    func deleteChannel(_ channelID: String, at address: APNsAddress, requestID: UUID) async -> APNsAnswer<Void> {
        .unanswered("unasked")
    }
    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> { .unanswered("unasked") }
}

struct FakeKeys: KeyStore {
    var known: [String: APIKey] = [:]

    func authenticate(_ secret: String) async throws -> APIKey? { known[secret] }
    func create(
        name: String, scopes: Set<APIKey.Scope>, bundleID: BundleID?, by actor: AuditActor
    ) async throws -> (key: APIKey, secret: String) { throw Unasked() }
    func keys() async throws -> [APIKey] { throw Unasked() }
    func revoke(_ id: UUID, by actor: AuditActor, now: Date) async throws -> Bool { throw Unasked() }
}

struct FakeLedger: KeyLedger {
    var find: @Sendable (UUID) throws -> KeyListing? = { _ in throw Unasked() }

    func key(_ id: UUID) async throws -> KeyListing? { try find(id) }
    func create(_ draft: KeyDraft, by actor: AuditActor, now: Date) async throws -> IssuedKey { throw Unasked() }
    func keys(of bundleID: BundleID?, _ page: PageRequest) async throws -> Page<KeyListing> { throw Unasked() }
    func revoke(_ id: UUID, by actor: AuditActor, now: Date) async throws -> Bool { throw Unasked() }
    func rotate(_ id: UUID, overlapEnds: Date, by actor: AuditActor, now: Date) async throws -> IssuedKey? {
        throw Unasked()
    }
    func used(_ uses: [UUID: Date]) async throws { throw Unasked() }
}

struct NoUses: KeyUseRecorder {
    func used(_ key: UUID, at now: Date) {}
}

struct NoAnswersKept: IdempotencyStore {
    func once(
        _ request: IdempotentRequest, now: Date, work: @Sendable () async throws -> IdempotentResult
    ) async throws -> IdempotentOutcome { throw Unasked() }
    func inSteps(
        _ request: IdempotentRequest, lease: Duration, patience: Duration, now: @Sendable () -> Date,
        recover: @Sendable (UUID) async throws -> IdempotentResult?,
        work: @Sendable () async throws -> IdempotentResult
    ) async throws -> IdempotentOutcome { throw Unasked() }
}
