internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The order of messages while APNs throttles an app.
struct LimitedClaimTests {
    private static func limit(
        _ allowance: Int, of bundleID: String = "com.example.Goal", perSecond: Double = 0.3
    ) throws -> LaneLimit {
        LaneLimit(bundleID: try BundleID.sample(bundleID), allowance: allowance, perSecond: perSecond)
    }

    private static func number(_ delivery: ClaimedDelivery) -> String {
        delivery.text.split(separator: #"{"n":"#)[1].prefix { $0.isNumber }.description
    }

    @Test func `no more lanes are claimed than the rate allows, and other apps' as usual`() async throws {
        try await withStores { stores in
            try await stores.open((1...6).map { "goal-\($0)" })
            try await stores.open((1...3).map { "other-\($0)" }, of: "com.example.Other")
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
            try await stores.open(["first", "second"])
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
            try await stores.open(["quiet", "goal-1", "goal-2", "high"])
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
}

/// What the database knows of apps that APNs throttles.
struct ThrottleStoreTests {
    private static func limit(_ stores: StoreWorld, api: Contract.APNsAPI = .broadcast) throws -> Throttle {
        Throttle(
            app: AppEnvironment(bundleID: try BundleID.sample(), environment: .production), api: api, since: stores.now)
    }

    @Test func `quotas show a throttled app and its waiting lanes until 30 s after the last report`() async throws {
        try await withEvent { stores in
            try await stores.accept(.update())
            let began = stores.now
            let store = PostgresThrottles(Database(stores.pool))
            try await store.report([Self.limit(stores)], now: stores.now)
            stores.clock.advance(by: 12)
            // Another replica was limited later.
            try await store.report([Self.limit(stores)], now: stores.now)
            stores.clock.advance(by: 29)
            let quotas = try await stores.quotas()
            let throttle = try #require(quotas.first { $0.environment == .production }?.throttles.first)
            #expect((throttle.since, throttle.lanesWaiting, throttle.oldestSeconds) == (began.inMicroseconds, 1, 41))
            #expect(quotas.first { $0.environment == .development }?.throttles == [])
            stores.clock.advance(by: 1)
            #expect(try await store.throttles(now: stores.now).isEmpty)
        }
    }

    @Test func `webhooks are told once when an app is throttled, and when no replica is limited any more`()
        async throws
    {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await stores.open()
            try await hooks.add([.throttleBegan, .throttleEnded])
            let store = PostgresThrottles(Database(stores.pool))
            let limits = [try Self.limit(stores), try Self.limit(stores, api: .device)]
            _ = try await concurrently(2) { _ in try await store.report(limits, now: stores.now) }
            #expect(try await hooks.told() == ["throttle.began", "throttle.began"])
            stores.clock.advance(by: 29)
            try await store.report([limits[0]], now: stores.now)
            stores.clock.advance(by: 1)
            _ = try await concurrently(2) { _ in try await store.report([], now: stores.now) }
            #expect(try await hooks.told() == ["throttle.began", "throttle.began", "throttle.ended"])
            stores.clock.advance(by: 29)
            try await store.report([], now: stores.now)
            #expect(try await hooks.told().count == 4)
        }
    }
}
