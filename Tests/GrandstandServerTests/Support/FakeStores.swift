internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Synchronization

@testable internal import GrandstandServer

/// The tested code made a call that it must not make.
struct NotScripted: Error {}

/// What happened to a fake store. A test can wait for it.
final class Happenings<Account: Sendable>: Sendable {
    private let account: Mutex<Account>
    private let events: AsyncStream<Void>.Continuation
    private let changes: AsyncStream<Void>

    init(_ account: Account) {
        self.account = Mutex(account)
        (changes, events) = AsyncStream.makeStream()
    }

    var record: Account { account.withLock { $0 } }

    func change<Value: Sendable, Failure: Error>(
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
}

extension WakeUps {
    /// Signals that only the test gives.
    static var byHand: WakeUps { WakeUps(Database(TestDatabase.away.pool)) }

    func wake() { wake(Set(WakeTopic.allCases)) }
}

/// A store of shards that are due at once.
struct FakeShards: ShardStore {
    struct Account: Sendable {
        var shards: [StartShard]
        var settlementFailures: Int
        var claims: [ShardClaim] = []
        var settled: [(run: Int, outcomes: [StartOutcome])] = []
        var extended: [[Int]] = []
        /// Claims, failures and settlements in their order.
        var log: [String] = []
    }

    private let happenings: Happenings<Account>

    init(_ shards: [StartShard], settlementFailures: Int = 0) {
        happenings = Happenings(Account(shards: shards, settlementFailures: settlementFailures))
    }

    var record: Account { happenings.record }

    func wait(until isEnough: (Account) -> Bool) async { await happenings.wait(until: isEnough) }

    func claim(_ claim: ShardClaim) async throws -> [StartShard] {
        happenings.change { account in
            account.claims.append(claim)
            account.log.append("claim")
            defer { account.shards.removeFirst(min(claim.limit, account.shards.count)) }
            return Array(account.shards.prefix(claim.limit))
        }
    }

    func settle(_ shard: StartShard, _ outcomes: [StartOutcome], replica: UUID, now: Date) async throws {
        try happenings.change { account in
            if account.settlementFailures > 0 {
                account.settlementFailures -= 1
                account.log.append("failure")
                throw Problem(.storeUnavailable, "It is away.")
            }
            account.log.append("settled")
            account.settled.append((shard.run, outcomes))
        }
    }

    func extendLeases(of runs: [Int], replica: UUID, until: Date) async throws {
        happenings.change { $0.extended.append(runs) }
    }

    func nextDue(in environment: APNsEnvironment) async throws -> Date? { nil }
}
