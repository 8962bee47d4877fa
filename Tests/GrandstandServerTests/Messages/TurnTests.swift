internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
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
        }
    }

    @Test func `with more apps than free places for requests every app gets its turn`() async throws {
        try await withStores { stores in
            for n in 1...7 { try await burst(2, of: "com.example.App\(n)", stores) }
            var taken: [String: Int] = [:]
            for _ in 1...5 {
                for delivery in try await stores.claim(limit: 3) {
                    taken[delivery.address.bundleID.rawValue, default: 0] += 1
                }
            }
            #expect(taken.values.reduce(0, +) == 14)
            #expect(taken.count == 7)
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
        }
    }

    @Test func `lanes of one environment are claimed only for its host`() async throws {
        try await withStores { stores in
            try await burst(2, of: "com.example.Goal", stores)
            try await burst(3, of: "com.example.Goal", stores, in: .development)
            #expect(try await stores.outbox.nextDue(in: .development) == stores.now)
            #expect(try await stores.claim(in: .development).count == 3)
            #expect(try await stores.claim(in: .development).isEmpty)
            #expect(try await stores.claim().count == 2)
        }
    }
}
