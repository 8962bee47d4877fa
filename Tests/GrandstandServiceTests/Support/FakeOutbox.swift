internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization

/// An outbox of deliveries that are due at once. It records what happens to them.
final class FakeOutbox: Outbox {
    struct Account: Sendable {
        var waiting: [ClaimedDelivery]
        var claims: [Int] = []
        var settled: [Settlement] = []
        var released: [ClaimedDelivery] = []
        /// The lanes whose leases were extended, by call.
        var extended: [[Int]] = []
        /// The number of settlements and claims that fail before one succeeds.
        var settlementFailures = 0
        var claimFailures = 0
        /// Lanes that another transaction has locked.
        var locked: Set<Int> = []
        /// The lanes that the last claim named as held by this replica, and its limits.
        var held: Set<Int> = []
        var limits: [LaneLimit] = []
    }

    private let account: Mutex<Account>
    private let events: AsyncStream<Void>.Continuation
    /// Yields at every settlement and release.
    let changes: AsyncStream<Void>

    init(_ deliveries: [ClaimedDelivery], settlementFailures: Int = 0, claimFailures: Int = 0) {
        var account = Account(waiting: deliveries)
        account.settlementFailures = settlementFailures
        account.claimFailures = claimFailures
        self.account = Mutex(account)
        (changes, events) = AsyncStream.makeStream()
    }

    var record: Account { account.withLock { $0 } }

    func add(_ deliveries: [ClaimedDelivery]) { account.withLock { $0.waiting += deliveries } }

    func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery] {
        try account.withLock { account in
            if account.claimFailures > 0 {
                account.claimFailures -= 1
                throw NotScripted()
            }
            account.claims.append(claim.limit)
            account.held = claim.held
            account.limits = claim.limits
            defer { account.waiting.removeFirst(min(claim.limit, account.waiting.count)) }
            return Array(account.waiting.prefix(claim.limit))
        }
    }

    func settle(_ delivery: ClaimedDelivery, _ settlement: Settlement?, replica: UUID, now: Date) async throws -> Bool {
        defer { events.yield() }
        return try account.withLock { account in
            if account.settlementFailures > 0 {
                account.settlementFailures -= 1
                throw Problem(.storeUnavailable, "down")
            }
            guard !account.locked.contains(delivery.lane) else { return false }
            if let settlement { account.settled.append(settlement) } else { account.released.append(delivery) }
            return true
        }
    }

    /// Locks these lanes, and unlocks all others.
    func lock(_ lanes: Set<Int>) { account.withLock { $0.locked = lanes } }

    func nextDue(in environment: APNsEnvironment, limits: [LaneLimit]) async throws -> Date? { nil }

    func nextScheduled() async throws -> Date? { nil }

    func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws {
        account.withLock { $0.extended.append(lanes) }
        events.yield()
    }

    func promote(now: Date, limit: Int, plan: @escaping DeliveryPlanning) async throws -> Int { 0 }

    func scheduled(
        of key: EventKey, within reach: AppReach, _ page: PageRequest
    ) async throws -> Page<Broadcast> { throw NotScripted() }

    func rehearse(
        _ intake: BroadcastIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> BroadcastRehearsal { throw NotScripted() }

    func accept(
        _ items: [BroadcastIntake], now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast, Problem>] { throw NotScripted() }

    func broadcast(_ id: UUID, within reach: AppReach) async throws -> Broadcast? { throw NotScripted() }

    func broadcasts(
        of key: EventKey, within reach: AppReach, _ page: PageRequest
    ) async throws -> Page<Broadcast> { throw NotScripted() }

    func tell(_ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning) async throws -> Broadcast? {
        throw NotScripted()
    }

    func rehearse(
        _ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> StateRehearsal { throw NotScripted() }

    func cancel(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool? {
        throw NotScripted()
    }

    /// Waits until the records satisfy `isEnough`.
    func wait(until isEnough: (Account) -> Bool) async {
        if isEnough(record) { return }
        for await _ in changes where isEnough(record) { return }
    }
}

/// Signals that the test gives.
final class HandSignals: WakeSignals {
    private let streams = Mutex<[AsyncStream<Void>.Continuation]>([])

    func wakes(_ topic: WakeTopic) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        streams.withLock { $0.append(continuation) }
        return stream
    }

    func wake() { for stream in streams.withLock({ $0 }) { stream.yield() } }
}

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
    func startNow(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> String? {
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
