internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

struct FakeStarts: StartStore {
    var ask: @Sendable (EventKey, AppReach) throws -> Void = { _, _ in throw Unasked() }
    var halt: @Sendable (EventKey, AppReach) throws -> Void = { _, _ in throw Unasked() }
    var tell: @Sendable (EventKey, AppReach) throws -> [(audience: Audience, report: StartReport)]? = { _, _ in
        throw Unasked()
    }
    var list: @Sendable (Audience.Selector, PageRequest) throws -> Page<TopicFollowers> = { _, _ in throw Unasked() }

    func startNow(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws {
        try ask(key, reach)
    }
    func stop(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws {
        try halt(key, reach)
    }
    func report(of key: EventKey, within reach: AppReach, now: Date) async throws -> [(
        audience: Audience, report: StartReport
    )]? { try tell(key, reach) }
    func topics(of app: Audience.Selector, _ page: PageRequest) async throws -> Page<TopicFollowers> {
        try list(app, page)
    }
    func claim(_ claim: StartClaim) async throws -> [StartShard] { throw Unasked() }
    func settle(_ shard: StartShard, _ verdicts: [StartOutcome], replica: UUID, now: Date) async throws {
        throw Unasked()
    }
    func extendLeases(of runs: [Int], replica: UUID, until leasedUntil: Date) async throws { throw Unasked() }
    func nextDue(in environment: APNsEnvironment) async throws -> Date? { throw Unasked() }
}
