internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization

/// A store of shards that are due at once. It records what happens to them.
final class FakeStartStore: StartStore {
    struct Account: Sendable {
        var shards: [StartShard]
        var claims: [StartClaim] = []
        var settled: [(run: Int, outcomes: [StartOutcome])] = []
        var extended: [[Int]] = []
        var settlementFailures = 0
        /// Claims, failures and settlements in their order.
        var log: [String] = []
    }

    private let account: Mutex<Account>
    private let events: AsyncStream<Void>.Continuation
    private let changes: AsyncStream<Void>

    init(_ shards: [StartShard], settlementFailures: Int = 0) {
        var account = Account(shards: shards)
        account.settlementFailures = settlementFailures
        self.account = Mutex(account)
        (changes, events) = AsyncStream.makeStream()
    }

    var record: Account { account.withLock { $0 } }

    func claim(_ claim: StartClaim) async throws -> [StartShard] {
        defer { events.yield() }
        return account.withLock { account in
            account.claims.append(claim)
            account.log.append("claim")
            defer { account.shards.removeFirst(min(claim.limit, account.shards.count)) }
            return Array(account.shards.prefix(claim.limit))
        }
    }

    func settle(_ shard: StartShard, _ verdicts: [StartOutcome], replica: UUID, now: Date) async throws {
        defer { events.yield() }
        try account.withLock { account in
            if account.settlementFailures > 0 {
                account.settlementFailures -= 1
                account.log.append("failure")
                throw Problem(.storeUnavailable, "It is away.")
            }
            account.log.append("settled")
            account.settled.append((shard.run, verdicts))
        }
    }

    func extendLeases(of runs: [Int], replica: UUID, until leasedUntil: Date) async throws {
        account.withLock { $0.extended.append(runs) }
        events.yield()
    }

    func nextDue(in environment: APNsEnvironment) async throws -> Date? { nil }
    func startNow(
        _ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> String? {
        throw NotScripted()
    }
    func stop(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws {
        throw NotScripted()
    }
    func report(
        of key: EventKey, within reach: AppReach, _ outlook: StartOutlook, now: Date
    ) async throws -> [AudienceStart]? { throw NotScripted() }
    func topics(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<TopicFollowers> {
        throw NotScripted()
    }

    /// Waits until the records satisfy `isEnough`.
    func wait(until isEnough: (Account) -> Bool) async {
        if isEnough(record) { return }
        for await _ in changes where isEnough(record) { return }
    }
}
