internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Logging
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// The dispatcher of starts with a store that fails when the test says so, and a gateway that the test observes.
@Suite(.timeLimit(.minutes(20)))
struct ShardDispatcherTests {
    private static let until = LoopSample.now.addingTimeInterval(3_600)

    private static func member(_ installation: Int) -> Shard.Member {
        let token = DeviceToken(bytes: Array("token \(installation)".utf8))
        return Shard.Member(row: installation, token: token ?? { preconditionFailure("a token") }())
    }

    private static func shard(_ run: Int, _ members: [Shard.Member]) -> Shard {
        Shard(
            owner: run, number: 0, address: LoopSample.address(), deadline: until,
            pushes: [.init(body: Array("{}".utf8), priority: .immediate, expiration: 1_700_000_900)], members: members)
    }

    private static func dispatcher(
        _ store: FakeShards, _ gateway: FakeDevices, concurrency: Int = 20, lease: TimeInterval = 3_600,
        drain: Duration = .seconds(3_600), pollInterval: Duration = .seconds(3_600),
        now: @escaping @Sendable () -> Date = { LoopSample.now }, slots: Int = 4, logger: Logger = LoopSample.logger
    ) -> ShardDispatcher {
        ShardDispatcher(
            store: store,
            pushes: DevicePushes(
                gateway: gateway, permits: Semaphore(permits: concurrency), rates: LoopSample.rates(.device),
                worker: LoopSample.worker(
                    lease: lease, drain: Drain(drain), pollInterval: pollInterval, now: now, logger: logger)),
            topic: .starts, slots: slots)
    }

    @Test func `every member gets one push and its own verdict, with at most the allowed number at a time`() async {
        let store = FakeShards(
            (1...3).map { run in Self.shard(run, (1...200).map { Self.member(run * 1_000 + $0) }) })
        let valve = Valve()
        let (refused, lost) = (Self.member(1_001), Self.member(2_001))
        let gateway = FakeDevices { push in
            await valve.pass()
            return push.token == refused.token
                ? .refusing(.badDeviceToken) : push.token == lost.token ? .unanswered("lost") : .ok
        }
        let verdicts = [refused: TokenVerdict.suspect(reason: "BadDeviceToken"), lost: .unknown(reason: "lost")]
        await running(Self.dispatcher(store, gateway).run) {
            await valve.hold(20)
            valve.open()
            await store.wait { $0.settled.count == 3 }
        }
        #expect(valve.most == 20 && gateway.pushes.count == 600)
        #expect(Set(gateway.pushes.map(\.token)).count == 600)
        #expect(Set(gateway.pushes.map(\.requestID)).count == 600)
        #expect(store.record.settled.allSatisfy { $0.outcomes.count == 200 })
        #expect(store.record.settled.flatMap(\.outcomes).allSatisfy { $0.verdict == verdicts[$0.member] ?? .accepted })
    }

    @Test func `while APNs refuses a key one push is sent, and the others are given back`() async {
        let refusal = APNsRefusal.heldBack(
            by: KeyRefusal(reason: .invalidProviderToken, since: LoopSample.now), seconds: 3)
        let gateway = FakeDevices { _ in .refused(refusal) }
        let pushes = DevicePushes(
            gateway: gateway, permits: Semaphore(permits: 1), rates: LoopSample.rates(.device),
            worker: LoopSample.worker())
        let outcomes = await pushes.send(Self.shard(1, (1...100).map { Self.member($0) }))
        #expect(gateway.pushes.count == 1)
        #expect(outcomes.count { $0.verdict == nil } == 99)
        let again = LoopSample.now.addingTimeInterval(3)
        #expect(outcomes.compactMap(\.verdict) == [.retry(at: again, reason: "InvalidProviderToken")])
        #expect(pushes.rates.limits(at: LoopSample.now) == [AppLimit(bundleID: LoopSample.address().bundleID)])
        #expect(pushes.rates.limits(at: again).isEmpty)
    }

    @Test func `failing pushes are logged when they begin and end, and a phone without the app never`() async {
        let answers: [APNsAnswer<Void>] = [
            .refusing(.unregistered), .refusing(.topicDisallowed), .refusing(.internalServerError),
            .refusing(.topicDisallowed), .ok, .ok,
        ]
        let byToken = Dictionary(
            uniqueKeysWithValues: answers.enumerated().map { (Self.member($0.offset).token, $0.element) })
        let store = FakeShards(answers.indices.map { Self.shard($0, [Self.member($0)]) })
        let log = LogLines()
        let dispatcher = Self.dispatcher(
            store, FakeDevices { byToken[$0.token] ?? .ok }, slots: 1, logger: log.logger)
        await running(dispatcher.run) { await store.wait { $0.settled.count == answers.count } }
        #expect(
            log.all.filter { $0.contains("pushes to devices") } == [
                "warning APNs did not accept all pushes to devices",
                "notice APNs accepts pushes to devices of the app again",
            ])
    }

    @Test func `while APNs does not work no further push becomes unknown`() async {
        // The clock advances by a second with each failure. So twenty failures in a row last long enough to count as an
        // outage.
        let clock = Mutex(LoopSample.now)
        let store = FakeShards([Self.shard(1, (1...500).map { Self.member($0) })])
        let gateway = FakeDevices { _ in
            clock.withLock { $0 += 1 }
            return .unanswered("no answer")
        }
        let dispatcher = Self.dispatcher(store, gateway, concurrency: 1, now: { clock.withLock { $0 } })
        await running(dispatcher.run) { await store.wait { $0.settled.count == 1 } }
        let outcomes = store.record.settled[0].outcomes
        #expect(outcomes.count == 500)
        #expect(outcomes.count { $0.verdict == .unknown(reason: "no answer") } == Circuit.threshold)
        #expect(outcomes.count { $0.verdict == nil } == 500 - Circuit.threshold)
    }

    @Test func `after an outage of the database, other replicas keep their shards for two leases`() async {
        let clock = Mutex(LoopSample.now)
        let store = FakeShards([], claimFailures: 1)
        // Each look at the clock is a second later.
        let dispatcher = Self.dispatcher(
            store, FakeDevices(), lease: 6, pollInterval: .milliseconds(1),
            now: {
                clock.withLock { now in
                    now += 1
                    return now
                }
            })
        await running(dispatcher.run) {
            await store.wait { $0.claims.dropFirst().contains { $0.leasesEndedBefore == $0.at } }
        }
        let claims = store.record.claims
        #expect(claims.dropFirst().first?.leasesEndedBefore == .distantPast)
        for claim in claims.dropFirst() where claim.leasesEndedBefore == claim.at {
            #expect(claim.at >= claims[0].at + 13)
        }
    }

    @Test func `a stop does not wait for a database that cannot be reached`() async {
        let store = FakeShards([Self.shard(1, [Self.member(1)])], settlementFailures: .max)
        let dispatcher = Self.dispatcher(store, FakeDevices(), lease: 3_600, drain: .zero)
        await running(dispatcher.run) { await store.wait(until: \.hasFailed) }
        #expect(store.record.settled.isEmpty)
    }

    @Test func `until its answers are recorded a shard's run is named in claims and keeps its lease`() async {
        let store = FakeShards([Self.shard(7, [Self.member(1)])], settlementFailures: 3)
        let valve = Valve()
        let gateway = FakeDevices.held(by: valve)
        await running(Self.dispatcher(store, gateway, lease: 0.03, pollInterval: .milliseconds(5)).run) {
            await store.wait { $0.claims.contains { $0.held == [7] } && $0.extended.count >= 2 }
            valve.open()
            await store.wait { $0.settled.count == 1 }
            await store.wait { $0.claims.last?.held == [] }
        }
        #expect(store.record.extended.allSatisfy { $0 == [7] })
        #expect(store.record.settled[0].outcomes.map(\.verdict) == [.accepted])
    }

    @Test func `a stop sends nothing more, and records what was sent`() async {
        let store = FakeShards([Self.shard(1, (1...100).map { Self.member($0) })])
        let valve = Valve()
        let gateway = FakeDevices.held(by: valve)
        let dispatcher = Self.dispatcher(store, gateway, concurrency: 5, drain: .zero)
        let running = Task { await dispatcher.run() }
        await valve.hold(5)
        running.cancel()
        await gateway.cancelled()
        valve.open()
        await running.value
        let outcomes = store.record.settled.flatMap(\.outcomes)
        #expect(outcomes.count == 100 && gateway.pushes.count == 5)
        #expect(outcomes.count { $0.verdict == .accepted } == 5)
    }
}

/// APNs for devices with scripted answers.
final class FakeDevices: DeviceGateway {
    private let made = Mutex<[DevicePush]>([])
    private let answer: @Sendable (DevicePush) async -> APNsAnswer<Void>
    private let cancellations: AsyncStream<Void>
    private let cancellation: AsyncStream<Void>.Continuation

    init(answer: @escaping @Sendable (DevicePush) async -> APNsAnswer<Void> = { _ in .ok }) {
        self.answer = answer
        (cancellations, cancellation) = AsyncStream.makeStream()
    }

    /// Accepts each push once the valve is open.
    static func held(by valve: Valve) -> FakeDevices {
        FakeDevices { _ in
            await valve.pass()
            return .ok
        }
    }

    var pushes: [DevicePush] { made.withLock { $0 } }

    /// Waits until a push in flight is cancelled.
    func cancelled() async { for await _ in cancellations { return } }

    func push(_ push: DevicePush, to address: APNsAddress) async -> APNsAnswer<Void> {
        made.withLock { $0.append(push) }
        return await withTaskCancellationHandler {
            await answer(push)
        } onCancel: {
            cancellation.yield()
        }
    }
}

/// A store of shards that are due at once. A test can wait for what happens to it.
final class FakeShards: ShardStore {
    struct Account: Sendable {
        var shards: [Shard]
        var settlementFailures: Int
        var claimFailures: Int
        var claims: [WorkClaim] = []
        var settled: [(run: Int, outcomes: [PushOutcome])] = []
        var extended: [[Int]] = []
        var hasFailed = false
    }

    private let account: Mutex<Account>
    private let (changes, events) = AsyncStream.makeStream(of: Void.self)

    init(_ shards: [Shard], settlementFailures: Int = 0, claimFailures: Int = 0) {
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

    func claim(_ claim: WorkClaim) async throws -> [Shard] {
        try change { account in
            account.claims.append(claim)
            account.claimFailures -= 1
            if account.claimFailures >= 0 { throw Problem(.storeUnavailable, "It is away.") }
            defer { account.shards.removeFirst(min(claim.limit, account.shards.count)) }
            return Array(account.shards.prefix(claim.limit))
        }
    }

    func settle(_ shard: Shard, _ outcomes: [PushOutcome], replica: UUID, now: Date) async throws {
        try change { account in
            if account.settlementFailures > 0 {
                account.settlementFailures -= 1
                account.hasFailed = true
                throw Problem(.storeUnavailable, "It is away.")
            }
            account.settled.append((shard.owner, outcomes))
        }
    }

    func extendLeases(of runs: [Int], replica: UUID, until: Date) async throws {
        change { $0.extended.append(runs) }
    }

    func nextDue(in environment: APNsEnvironment) async throws -> Date? { nil }
}
