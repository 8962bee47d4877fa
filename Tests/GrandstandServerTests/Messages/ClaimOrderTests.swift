internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// In which order apps get their turns when lanes are claimed.
struct TurnTests {
    /// Opens `count` events of an app and accepts an update for each.
    private func burst(
        _ count: Int, of bundleID: String, _ stores: StoreWorld, priority: APNsPriority? = nil,
        in environment: APNsEnvironment = .production
    ) async throws {
        let keys = (1...count).map { "\(bundleID)-\(environment.rawValue)-\($0)" }
        try await stores.open(keys, of: bundleID, in: environment)
        for key in keys { try await stores.accept(.update(priority: priority), for: key) }
    }

    @Test func `another app's message is sent with the next claim, however many lanes a burst has`() async throws {
        try await withStores { stores in
            try await burst(40, of: "com.example.Large", stores)
            stores.clock.advance(by: 1)
            try await burst(1, of: "com.example.Small", stores)
            let claimed = try await stores.claim(limit: 10)
            #expect(claimed.count { $0.address.bundleID.rawValue == "com.example.Small" } == 1)
            // The small app had half of the places; the large app gets the rest with the next claim.
            #expect(claimed.count { $0.address.bundleID.rawValue == "com.example.Large" } == 5)
            #expect(try await stores.claim(limit: 10).count == 10)
            // With more apps than free places each place is used, too.
            for n in 1...7 { try await burst(1, of: "com.example.App\(n)", stores) }
            #expect(try await stores.claim(limit: 3).count == 3)
        }
    }

    @Test func `an end comes before priority 10, that before the rest, and then the longest due`() async throws {
        try await withStores { stores in
            try await stores.open((1...4).map { "match-\($0)" })
            try await stores.accept(.update(#"{"n":1}"#, priority: .lowest), for: "match-1")
            stores.clock.advance(by: 1)
            try await stores.accept(.update(#"{"n":2}"#, priority: .powerAware), for: "match-2")
            stores.clock.advance(by: 1)
            try await stores.accept(.update(#"{"n":3}"#, priority: .immediate), for: "match-3")
            stores.clock.advance(by: 1)
            try await stores.accept(.end(#"{"n":4}"#), for: "match-4")
            var order: [String] = []
            for _ in 1...4 {
                order += try await stores.claim(limit: 1).map { String($0.text.split(separator: #"{"n":"#)[1].first!) }
            }
            #expect(order == ["4", "3", "1", "2"])
            // Lanes of one environment are claimed only for its host.
            try await burst(2, of: "com.example.Goal", stores)
            try await burst(3, of: "com.example.Goal", stores, in: .development)
            #expect(try await stores.outbox.nextDue(in: .development) == stores.now)
            #expect(try await stores.claim(in: .development).count == 3)
            #expect(try await stores.claim(in: .development).isEmpty)
            #expect(try await stores.claim().count == 2)
        }
    }
}

/// The order of messages while APNs throttles an app.
struct LimitedClaimTests {
    private static func limit(_ allowance: Int) throws -> AppLimit {
        AppLimit(bundleID: try BundleID.sample(), allowance: allowance, perSecond: 0.3)
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

    @Test func `an alert comes first, unless others waited for a whole turn of all lanes`() async throws {
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
    private static func limit(_ stores: StoreWorld, api: Contract.APNsAPI = .broadcast) throws -> ThrottledApp {
        ThrottledApp(
            app: AppEnvironment(bundleID: try BundleID.sample(), environment: .production), api: api, since: stores.now)
    }

    @Test func `quotas show a throttled app, and webhooks are told when that begins and ends`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await stores.open()
            try await stores.accept(.update())
            try await hooks.add([.throttleBegan, .throttleEnded])
            let (began, database) = (stores.now, Database(stores.pool))
            let limits = [try Self.limit(stores), try Self.limit(stores, api: .device)]
            _ = try await concurrently(2) { _ in try await ThrottledApp.report(limits, to: database, now: stores.now) }
            #expect(try await hooks.told() == ["throttle.began", "throttle.began"])
            stores.clock.advance(by: 29)
            // Another replica was limited later.
            try await ThrottledApp.report([Self.limit(stores)], to: database, now: stores.now)
            let quotas = try await stores.quotas()
            let throttle = try #require(quotas.first { $0.environment == .production }?.throttles.first)
            #expect((throttle.since, throttle.lanesWaiting, throttle.oldestSeconds) == (began.asStored, 1, 29))
            #expect(quotas.first { $0.environment == .development }?.throttles == [])
            stores.clock.advance(by: 1)
            _ = try await concurrently(2) { _ in try await ThrottledApp.report([], to: database, now: stores.now) }
            #expect(try await hooks.told() == ["throttle.began", "throttle.began", "throttle.ended"])
            stores.clock.advance(by: 29)
            #expect(try await database.query(ThrottledApp.all(now: stores.now)).isEmpty)
            try await ThrottledApp.report([], to: database, now: stores.now)
            #expect(try await hooks.told().count == 4)
        }
    }
}
