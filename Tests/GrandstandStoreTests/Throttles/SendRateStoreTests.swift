internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// What replicas share about apps that APNs throttles.
@Suite(.timeLimit(.minutes(1)))
struct SendRateStoreTests {
    private static func rate(
        _ perSecond: Double, of replica: UUID, _ stores: Stores, api: AppSendRate.API = .broadcast
    ) throws -> LearnedRate {
        LearnedRate(
            bundleID: try BundleID.sample(), api: api, replica: replica, perSecond: perSecond,
            since: stores.now, throttledAt: stores.now)
    }

    private static func topics(_ hooks: Hooks) async throws -> [String] {
        _ = try await hooks.compose()
        return try await hooks.stores.pool.query(
            "select topic::text as topic from webhook_messages order by topic::text"
        )
        .map { try $0.decode("topic") }
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
            let quotas = try await stores.channels.quotas(now: stores.now, tenure: Stores.tenure)
            let throttle = try #require(quotas.first { $0.environment == .production }?.throttles.first)
            #expect(throttle.perSecond == 20)
            #expect(throttle.lanesWaiting == 1)
            #expect(throttle.oldestSeconds == 2)
            #expect(
                throttle.sentence
                    == "APNs throttles this app: 20 messages a second; 1 channel or token waits, the oldest for 2.0 s.")
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
                let seconds = next.timeIntervalSince(asked)
                #expect(seconds >= Double(10 * (place + 1)) - 1 && seconds < Double(10 * (place + 1)) + 9, "\(seconds)")
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
            try await withThrowingTaskGroup(of: Void.self) { group in
                for replica in replicas {
                    let rate = try Self.rate(8, of: replica, stores)
                    group.addTask { _ = try await store.exchange([rate], of: replica, in: .production) }
                }
                try await group.waitForAll()
            }
            _ = try await store.exchange([Self.rate(9, of: replicas[0], stores)], of: replicas[0], in: .production)
            #expect(try await Self.topics(hooks) == ["throttle.began"])
            let text: String = try await stores.pool.query("select body from webhook_messages")[0].decode("body")
            #expect(text.contains(#""api":"broadcast""#))
            #expect(text.contains(#""ratePerSecond":8"#))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for replica in replicas {
                    group.addTask { _ = try await store.exchange([], of: replica, in: .production) }
                }
                try await group.waitForAll()
            }
            #expect(try await Self.topics(hooks) == ["throttle.began", "throttle.ended"])
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
            #expect(try await Self.topics(hooks) == ["throttle.ended"])
        }
    }
}
