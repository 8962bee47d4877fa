internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// The database's metrics.
@Suite(.timeLimit(.minutes(20)))
struct GaugeTests {
    @Test func `waiting messages are counted by environment and state, with the oldest acceptance`() async throws {
        try await withStores { stores in
            let gauges = GaugeWatch(stores.channels, tenure: StoreWorld.tenure, now: { stores.now })
            func told() async throws -> [String: Double] {
                try await gauges.backlog(now: stores.now).reduce(into: [:]) { told, gauge in
                    told[([gauge.name] + gauge.labels).joined(separator: " ")] = gauge.value
                }
            }
            let empty = try await told()
            #expect(empty["grandstand_deliveries_pending production queued"] == 0)
            #expect(empty["grandstand_delivery_oldest_seconds production"] == 0)
            #expect(empty["grandstand_webhook_oldest_seconds"] == 0)
            try await stores.put(.sample(), as: "derby")
            try await stores.provision()
            try await stores.accept(.update(), for: "derby")
            stores.clock.advance(by: 30)
            let full = try await told()
            #expect(full["grandstand_deliveries_pending production queued"] == 1)
            #expect(abs(try #require(full["grandstand_delivery_oldest_seconds production"]) - 30) < 0.001)
            #expect(full.keys.contains { $0.hasPrefix("grandstand_reconciliation_age_seconds ") })
            // A quiet state that is held until later.
            try await stores.pool.query("update deliveries set next_attempt_at = \(stores.now + 5)")
            #expect(try await told()["grandstand_delivery_oldest_seconds production"] == 0)
        }
    }

    @Test func `ended messages are counted once when they are committed, and not if they are undone`() async throws {
        try await withDatabase { test in
            let counted = Mutex<[Occurrence]>([])
            let database = Database(test.pool, counting: { one in counted.withLock { $0.append(one) } })
            let stores = StoreWorld(test)
            let outbox = Outbox(database)
            try await stores.open()
            @Sendable func accept() async throws {
                let intake = Intake(eventKey: try .sample(), request: .update(), at: stores.now)
                _ = try await outbox.accept([intake])
            }
            try await accept()
            #expect(counted.withLock { $0 }.isEmpty)
            // The newer state replaces the one that waits.
            try await accept()
            let states = counted.withLock { all in all.compactMap(Self.state) }
            #expect(states == [.superseded])
            struct Undone: Error {}
            await #expect(throws: Undone.self) {
                try await database.transaction { connection in
                    try await database.joining(connection) { try await accept() }
                    throw Undone()
                }
            }
            #expect(counted.withLock { $0.count } == 1)
            let claimed = try await outbox.claim(stores.request())
            let delivery = try #require(claimed.first)
            #expect(abs(try #require(delivery.wantedAt).timeIntervalSince(stores.now)) < 0.001)
            let settlement = delivery.settled(.ok, at: stores.now)
            try await outbox.tryRecord([settlement])
            // A result that is recorded twice changes nothing the second time.
            try await outbox.tryRecord([settlement])
            #expect(counted.withLock { all in all.compactMap(Self.state) } == [.superseded, .accepted])
        }
    }

    private static func state(_ occurrence: Occurrence) -> Contract.DeliveryState? {
        if case .settled(_, let state, _) = occurrence { state } else { nil }
    }
}
