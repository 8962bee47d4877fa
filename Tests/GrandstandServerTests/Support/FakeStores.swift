internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Synchronization

@testable internal import GrandstandServer

/// The tested code made a call that it must not make.
struct NotScripted: Error {}

extension WakeUps {
    /// Signals that only the test gives.
    static var byHand: WakeUps { WakeUps(Database(TestDatabase.away.pool)) }

    func wake() { wake(Set(WakeTopic.allCases)) }
}

/// A store of shards that are due at once. A test can wait for what happens to it.
final class FakeShards: ShardStore {
    struct Account: Sendable {
        var shards: [StartShard]
        var settlementFailures: Int
        var claimFailures: Int
        var claims: [ShardClaim] = []
        var settled: [(run: Int, outcomes: [StartOutcome])] = []
        var extended: [[Int]] = []
        var hasFailed = false
    }

    private let account: Mutex<Account>
    private let (changes, events) = AsyncStream.makeStream(of: Void.self)

    init(_ shards: [StartShard], settlementFailures: Int = 0, claimFailures: Int = 0) {
        account = Mutex(
            Account(shards: shards, settlementFailures: settlementFailures, claimFailures: claimFailures))
    }

    var record: Account { account.withLock { $0 } }

    private func change<Value: Sendable, Failure: Error>(
        _ body: (inout Account) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        defer { events.yield() }
        return try account.withLock { account throws(Failure) in try body(&account) }
    }

    /// Waits until the records satisfy `isEnough`.
    func wait(until isEnough: (Account) -> Bool) async {
        if isEnough(record) { return }
        for await _ in changes where isEnough(record) { return }
    }

    func claim(_ claim: ShardClaim) async throws -> [StartShard] {
        try change { account in
            account.claims.append(claim)
            account.claimFailures -= 1
            if account.claimFailures >= 0 { throw Problem(.storeUnavailable, "It is away.") }
            defer { account.shards.removeFirst(min(claim.limit, account.shards.count)) }
            return Array(account.shards.prefix(claim.limit))
        }
    }

    func settle(_ shard: StartShard, _ outcomes: [StartOutcome], replica: UUID, now: Date) async throws {
        try change { account in
            if account.settlementFailures > 0 {
                account.settlementFailures -= 1
                account.hasFailed = true
                throw Problem(.storeUnavailable, "It is away.")
            }
            account.settled.append((shard.run, outcomes))
        }
    }

    func extendLeases(of runs: [Int], replica: UUID, until: Date) async throws {
        change { $0.extended.append(runs) }
    }

    func nextDue(in environment: APNsEnvironment) async throws -> Date? { nil }
}
