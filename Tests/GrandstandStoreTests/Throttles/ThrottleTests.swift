internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// The order of messages while APNs throttles an app.
struct LimitedClaimTests {
    private static func limit(
        _ allowance: Int, of bundleID: String = "com.example.Goal", patience: Double = 10
    ) throws -> LaneLimit {
        LaneLimit(bundleID: try BundleID.sample(bundleID), allowance: allowance, patience: patience)
    }

    /// Opens events, each with a channel.
    private static func open(_ keys: [String], _ stores: Stores, of bundleID: String = "com.example.Goal") async throws
    {
        for key in keys { try await stores.put(.sample(key, audiences: [.sample(bundleID, .production)])) }
        try await stores.provision()
    }

    private static func number(_ delivery: ClaimedDelivery) -> String {
        delivery.text.split(separator: #"{"n":"#)[1].prefix { $0.isNumber }.description
    }

    @Test func `no more lanes are claimed than the rate allows, and other apps' as usual`() async throws {
        try await withStores { stores in
            try await Self.open((1...6).map { "goal-\($0)" }, stores)
            try await Self.open((1...3).map { "other-\($0)" }, stores, of: "com.example.Other")
            for n in 1...6 { try await stores.accept(.update(), for: "goal-\(n)") }
            for n in 1...3 { try await stores.accept(.update(), for: "other-\(n)") }
            let claimed = try await stores.claim(limits: [Self.limit(2)])
            #expect(claimed.count { $0.address.bundleID.rawValue == "com.example.Goal" } == 2)
            #expect(claimed.count { $0.address.bundleID.rawValue == "com.example.Other" } == 3)
            #expect(try await stores.claim(limits: [Self.limit(0)]).isEmpty)
            // The lanes of the other app are leased, and are due again when their leases end.
            let others = try #require(try await stores.outbox.nextDue(in: .production, limits: [Self.limit(0)]))
            #expect(others > stores.now)
            let next = try #require(try await stores.outbox.nextDue(in: .production, limits: [Self.limit(1)]))
            #expect(next <= stores.now)
            #expect(try await stores.claim().count == 4)
        }
    }

    @Test func `a lane keeps its place when a newer message replaces the waiting one`() async throws {
        try await withStores { stores in
            try await Self.open(["first", "second"], stores)
            try await stores.accept(.update(#"{"n":1}"#), for: "first")
            stores.clock.advance(by: 1)
            try await stores.accept(.update(#"{"n":2}"#), for: "second")
            stores.clock.advance(by: 1)
            try await stores.accept(.update(#"{"n":3}"#), for: "first")
            #expect(try await stores.claim(limits: [Self.limit(1)]).map(Self.number) == ["3"])
            #expect(try await stores.claim(limits: [Self.limit(1)]).map(Self.number) == ["2"])
        }
    }

    @Test func `an alert comes first, unless others have waited for a whole turn of all lanes`()
        async throws
    {
        try await withStores { stores in
            try await Self.open(["quiet", "goal-1", "goal-2", "high"], stores)
            try await stores.accept(.update(#"{"n":1}"#), for: "quiet")
            stores.clock.advance(by: 4)
            try await stores.accept(.update(#"{"n":2}"#, priority: .immediate), for: "high")
            stores.clock.advance(by: 4)
            try await stores.accept(.update(#"{"n":3}"#, alert: "{}"), for: "goal-1")
            #expect(try await stores.claim(limits: [Self.limit(1)]).map(Self.number) == ["3"])
            stores.clock.advance(by: 3)
            try await stores.accept(.update(#"{"n":4}"#, alert: "{}"), for: "goal-2")
            // The turn of the lane `quiet` comes ten seconds after its message began to wait. It came a second ago.
            #expect(try await stores.claim(limits: [Self.limit(2)]).map(Self.number).sorted() == ["1", "2"])
            #expect(try await stores.claim(limits: [Self.limit(1)]).map(Self.number) == ["4"])
        }
    }

    @Test func `each limited lane has its turn, whatever alerts come`() async throws {
        try await withStores { stores in
            let keys = (1...12).map { "quiet-\($0)" }
            try await Self.open(keys + ["loud-1", "loud-2", "loud-3"], stores)
            for key in keys { try await stores.accept(.update(#"{"n":0}"#), for: key) }
            // Each second brings three alerts, and the rate is three messages a second. If alerts always came first,
            // the quiet lanes would wait for ever.
            var sent: Set<Int> = []
            for _ in 0..<12 where sent.count < 12 {
                for key in 1...3 { try await stores.accept(.update(#"{"n":1}"#, alert: "{}"), for: "loud-\(key)") }
                for delivery in try await stores.claim(limits: [Self.limit(3, patience: 5)]) {
                    if Self.number(delivery) == "0" { sent.insert(delivery.lane) }
                    try await stores.settle(delivery, .accepted(APNsReceipt(requestID: nil)))
                }
                stores.clock.advance(by: 1)
            }
            #expect(sent.count == 12)
        }
    }
}

/// What replicas share about apps that APNs throttles.
@Suite(.timeLimit(.minutes(20)))
struct SendRateStoreTests {
    private static func rate(
        _ perSecond: Double, of replica: UUID, _ stores: Stores, api: AppSendRate.API = .broadcast
    ) throws -> LearnedRate {
        LearnedRate(
            bundleID: try BundleID.sample(), api: api, replica: replica, perSecond: perSecond,
            since: stores.now, throttledAt: stores.now)
    }

    @Test func `each replica reads what the other wrote, and quotas show the sum`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update())
            stores.clock.advance(by: 2)
            let store = PostgresSendRates(Database(stores.pool))
            let (one, other) = (UUID(), UUID())
            _ = try await store.exchange([Self.rate(8, of: one, stores)], of: one, in: .production)
            let known = try await store.exchange([Self.rate(12, of: other, stores)], of: other, in: .production)
            #expect(known.map(\.perSecond).sorted() == [8, 12])
            #expect(try await store.exchange([], of: UUID(), in: .development).isEmpty)
            let quotas = try await stores.quotas()
            let throttle = try #require(quotas.first { $0.environment == .production }?.throttles.first)
            #expect((throttle.perSecond, throttle.lanesWaiting, throttle.oldestSeconds) == (20, 1, 2))
            #expect(quotas.first { $0.environment == .development }?.throttles == [])
        }
    }

    @Test func `a delivery that waits for the rate shows its estimated time, never one in the past`() async throws {
        try await withStores { stores in
            for key in ["one", "two", "three"] { try await stores.put(.sample(key)) }
            try await stores.provision()
            var broadcasts: [Broadcast] = []
            for key in ["one", "two", "three"] {
                broadcasts.append(try await stores.accept(.update(), for: key))
                stores.clock.advance(by: 0.001)
            }
            for broadcast in broadcasts { #expect(try await stores.delivery(of: broadcast).nextAttemptAt == nil) }
            let replica = UUID()
            let asked = Date()
            _ = try await PostgresSendRates(Database(stores.pool)).exchange(
                [Self.rate(0.1, of: replica, stores)], of: replica, in: .production)
            for (place, broadcast) in broadcasts.enumerated() {
                let next = try #require(try await stores.delivery(of: broadcast).nextAttemptAt)
                // The estimate was made between these two readings of the clock.
                let estimate = asked + Double(10 * (place + 1) - 1)...Date() + Double(10 * (place + 1) + 1)
                #expect(estimate.contains(next), "\(next)")
            }
        }
    }

    @Test func `webhooks are told when the first replica is limited, and when the last one no longer is`()
        async throws
    {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await stores.open()
            try await hooks.add([.throttleBegan, .throttleEnded])
            let store = PostgresSendRates(Database(stores.pool))
            let replicas = [UUID(), UUID()]
            _ = try await concurrently(2) { n in
                try await store.exchange([Self.rate(8, of: replicas[n], stores)], of: replicas[n], in: .production)
            }
            _ = try await store.exchange([Self.rate(9, of: replicas[0], stores)], of: replicas[0], in: .production)
            #expect(try await hooks.told() == ["throttle.began"])
            _ = try await concurrently(2) { try await store.exchange([], of: replicas[$0], in: .production) }
            #expect(try await hooks.told() == ["throttle.began", "throttle.ended"])
        }
    }

    @Test func `the row of a dead replica is ignored, and removed by the next reader`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await stores.open()
            try await hooks.add([.throttleEnded])
            let store = PostgresSendRates(Database(stores.pool))
            let gone = UUID()
            _ = try await store.exchange([Self.rate(8, of: gone, stores)], of: gone, in: .production)
            try await stores.pool.query("update send_rates set written_at = written_at - interval '6 seconds'")
            #expect(try await store.throttles(now: stores.now).isEmpty)
            #expect(try await store.exchange([], of: UUID(), in: .production).isEmpty)
            #expect(try await stores.count("select count(*) as n from send_rates") == 0)
            #expect(try await hooks.told() == ["throttle.ended"])
        }
    }
}
