package import APNsWire
package import FoundationEssentials
package import Grandstand

/// A `StartStore` whose answers the test sets. It answers only the requests of people. All other calls throw `Unasked`,
/// so nothing can be claimed.
package struct FakeStarts: StartStore {
    package var ask: @Sendable (EventKey, AppReach) throws -> Void = { _, _ in throw Unasked() }
    package var halt: @Sendable (EventKey, AppReach) throws -> Void = { _, _ in throw Unasked() }
    package var tell: @Sendable (EventKey, StartOutlook) throws -> [AudienceStart]? = { _, _ in throw Unasked() }
    package var list: @Sendable (AppEnvironment, PageRequest) throws -> Page<TopicFollowers> = { _, _ in
        throw Unasked()
    }

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
    package func claim(_ claim: StartClaim) async throws -> [StartShard] { throw Unasked() }
    package func settle(
        _ shard: StartShard, _ verdicts: [StartOutcome], replica: UUID, now: Date
    ) async throws { throw Unasked() }
    package func extendLeases(of runs: [Int], replica: UUID, until leasedUntil: Date) async throws { throw Unasked() }
    package func nextDue(in environment: APNsEnvironment) async throws -> Date? { throw Unasked() }
}
