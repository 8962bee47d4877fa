internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Pushes are found by an index, whatever else the outbox contains, and also with plans that were made while it was
/// empty.
@Suite(.timeLimit(.minutes(3)))
struct PushPlanTests {
    @Test(arguments: [20, 2])
    func `accepting, claiming, settling and removing pushes read few rows`(together: Int) async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            try await stores.open()
            let plans = Plans()
            var configuration = PostgresConfiguration.outbox(connectionString: database.connectionString)
            configuration.maximumConnections = 1
            try await PlanTests.withPool(configuration, plans) { pool in
                try await Self.pushes(Database(pool), stores, together)
                try await PlanTests.fill(database.pool, events: 20_000, analyzed: false)
                plans.forget()
                try await Self.pushes(Database(pool), stores, together)
            }
            for words in ["insert into deliveries", "update deliveries", "delete from lanes l"] {
                #expect(plans.all.contains { $0.contains(words) }, "no plan of: \(words)")
            }
            for name in ["deliveries", "lanes", "broadcasts", "events", "channels"] {
                let through = plans.all.filter { $0.contains("Seq Scan on \(name)") }
                #expect(through.isEmpty, "\(through.first ?? "")")
            }
        }
    }

    /// Eight rounds of pushes to some known and some new tokens. PostgreSQL decides on the final plan of a prepared
    /// statement after five executions.
    private static func pushes(_ database: Database, _ stores: Stores, _ together: Int) async throws {
        let outbox = PostgresOutbox(database)
        for round in 0..<8 {
            let intakes = try (0..<together).map { place in
                BroadcastIntake(
                    .token(try .sample("80\(10 + place)\(place.isMultiple(of: 2) ? 10 : 10 + round)")),
                    request: .update().asPush)
            }
            let accepted = try await outbox.accept(intakes, now: stores.now, plan: Stores.plan)
            let id = try #require(accepted.first).get().id
            #expect(try await outbox.broadcast(id)?.recipient != nil)
            let claimed = try await outbox.claim(
                LaneClaim(
                    environment: .production, limit: 100, replica: stores.replica, at: stores.now,
                    leasedUntil: stores.now.addingTimeInterval(8), laneInterval: 0))
            #expect(claimed.count == together)
            let receipt = APNsReceipt(requestID: nil)
            try await outbox.settle(
                claimed.map {
                    Settlement(delivery: $0.id, lane: $0.lane, verdict: .accepted(receipt), at: stores.now)
                },
                replica: stores.replica, now: stores.now)
            stores.clock.advance(by: 2)
            let idle = try await database.query(
                """
                insert into lanes (kind, bundle_id, environment, storage_policy, token)
                values ('token', 'com.example.Goal', 'production', 'mostRecentMessageStored', 'idle') returning id
                """
            ).map { try $0.decode(Int.self, "id") }
            try await database.transaction { connection in
                try await TokenLanes.forget(claimed.map(\.lane) + idle, on: connection)
            }
            #expect(try await stores.count("select count(*) as n from lanes where token = 'idle'") == 0)
        }
    }
}
