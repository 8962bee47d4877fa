internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The plans that PostgreSQL makes for the statements that must stay cheap, however much history there is.
@Suite(.timeLimit(.minutes(20)))
struct PlanTests {
    private static let tables = ["deliveries", "broadcasts", "audiences", "events", "channels"]

    @Test func `accepting, claiming, settling and looking up read few rows`() async throws {
        try await withDatabase(.own) { database in
            let stores = StoreWorld(database)
            try await stores.open()
            try await PlanWorld.fill(database.pool, now: stores.now, analyzed: true)
            let plans = Plans()
            try await Self.withOutbox(database, plans) { outbox in
                try await Self.updates(outbox, stores, events: PlanWorld.events)
            }
            try await PlanWorld.withPool(.stores(connectionString: database.connectionString), plans) { pool in
                let lookups = LookupStore(database: Database(pool))
                for round in 1...4 {
                    let key = try EventKey.sample("event-\(round)")
                    let record = try #require(try await lookups.records(of: [key])[key]?.first)
                    #expect(try await lookups.contents(of: [record.lane]).count == 1)
                }
            }
            Self.check(plans)
            #expect(plans.missing(of: ["from audiences u join broadcasts b"]) == nil)
        }
    }

    /// The tables were empty until minutes before kick-off. When the match begins, the statistics and the prepared
    /// plans are still those of the empty tables.
    ///
    /// - Parameter together: how many updates are accepted together. Whether PostgreSQL plans a statement anew or keeps
    ///   one plan for ever depends on this number.
    @Test(arguments: [100, 20, 2])
    func `plans made while the tables were empty read few rows`(together: Int) async throws {
        try await withDatabase(.own) { database in
            let stores = StoreWorld(database)
            try await stores.open()
            try await PlanWorld.fill(database.pool, events: 20, messages: 10, now: stores.now, analyzed: true)
            let plans = Plans()
            try await Self.withOutbox(database, plans) { outbox in
                try await Self.updates(outbox, stores, events: 20, together: min(20, together))
                try await PlanWorld.fill(database.pool, after: 20, now: stores.now, analyzed: false)
                plans.forget()
                try await Self.updates(outbox, stores, events: PlanWorld.events, together: together)
            }
            Self.check(plans)
            for plan in plans.all { #expect(Self.isBound(plan), "\(plan)") }
            // With two rows a plan may compare each row with each other row.
            for plan in plans.all where together > 2 { #expect(!Self.comparesAll(plan), "\(plan)") }
        }
    }

    /// An outbox with a session for calls and one for the dispatcher, as the server has them.
    private static func withOutbox(
        _ database: TestDatabase, _ plans: Plans, _ body: (Outbox) async throws -> Void
    ) async throws {
        let url = database.connectionString
        try await PlanWorld.withPool(.stores(connectionString: url), plans, connections: 1) { calls in
            try await PlanWorld.withPool(.stores(connectionString: url, byKey: true), plans, connections: 1) {
                work in
                let database = Database(calls)
                try await body(Outbox(database, dispatch: Database(work, sharing: database)))
            }
        }
    }

    /// Whether a join of the plan compares each lane or delivery with each other one.
    private static func comparesAll(_ plan: String) -> Bool {
        plan.split(separator: ";").contains {
            $0.contains("Join Filter") && $0.contains(/\.lane\b|\b[dl](_\d+)?\.id\b/)
        }
    }

    /// Whether no index scan of the plan reads a whole table.
    private static func isBound(_ plan: String) -> Bool {
        let lines = plan.split(separator: ";")
        let readsAll = zip(lines, lines.dropFirst()).contains { line, next in
            line.contains("Index") && line.contains("Scan using")
                && tables.contains { line.contains(" on \($0)") }
                && !next.contains("Index Cond")
                && !plan.contains("order by bundle_id limit 1")
        }
        return !readsAll
    }

    /// Eight rounds of updates, from their acceptance to Apple's answer. PostgreSQL decides on the final plan of a
    /// prepared statement after five executions.
    private static func updates(
        _ outbox: Outbox, _ stores: StoreWorld, events: Int, together: Int = 20
    ) async throws {
        for round in 0..<8 {
            let keys = (0..<together).map { "event-\(($0 * 4_999 + $0 / 20 * 7 + round) % events + 1)" }
            let accepted = try await outbox.accept(
                try keys.map { Intake(eventKey: try .sample($0), request: .update(), at: stores.now) })
            #expect(try accepted.map { try $0.get() }.count == together)
            var request = stores.request(together)
            request.laneInterval = 1
            let claimed = try await outbox.claim(request)
            #expect(claimed.count == together)
            try await outbox.tryRecord(claimed.map { $0.settled(.ok, at: stores.now) })
            _ = try await outbox.nextDue(in: .production)
            _ = try await outbox.nextScheduled()
            stores.clock.advance(by: 2)
        }
    }

    private static func check(_ plans: Plans) {
        #expect(plans.all.count > 40)
        #expect(plans.scan(of: tables) == nil)
        #expect(
            plans.missing(of: ["insert into deliveries", "update deliveries", "for no key update skip locked"]) == nil)
    }
}
