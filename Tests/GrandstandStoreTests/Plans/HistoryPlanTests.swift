internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Janitors look for old rows every ten minutes. If there are none, nothing is read. A step reads only the rows that it
/// deletes.
@Suite(.timeLimit(.minutes(3)))
struct HistoryPlanTests {
    @Test(arguments: [true, false])
    func `kept rows are not read, and removed ones are found by index`(analyzed: Bool) async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            try await stores.open()
            try await PastTests.fill(database.pool, now: stores.now, analyzed: analyzed)
            try await Self.audit(database.pool, now: stores.now)
            let plans = Plans()
            try await PlanTests.withPool(
                .stores(connectionString: database.connectionString), plans, analyzing: true
            ) { pool in
                let store = Database(pool)
                let history = PostgresHistory(store)
                let now = stores.now
                // PostgreSQL decides on the final plan of a prepared statement after five executions.
                for _ in 1...7 {
                    for rows in RetentionRule.Rows.allCases {
                        let before = now.addingTimeInterval(-86_400)
                        let count = try await history.prune(rows, before: before, limit: 50)
                        #expect(count == 0)
                    }
                }
                for plan in plans.all { #expect(PastTests.rows(plan) <= 50, "\(PastTests.rows(plan)) rows: \(plan)") }
                plans.forget()
                for _ in 1...7 {
                    for rows in [RetentionRule.Rows.events, .channels] {
                        let count = try await history.prune(rows, before: now.addingTimeInterval(1), limit: 50)
                        #expect(count == 50)
                    }
                }
            }
            #expect(plans.all.contains { $0.contains("delete from events") })
            for plan in plans.all { #expect(PastTests.rows(plan) <= PastTests.bound, "\(plan)") }
        }
    }

    private static func audit(_ pool: PostgresPool, now: Date) async throws {
        try await pool.query(
            """
            insert into audit_log (at, actor, action)
            select \(now), 'key:desk', 'broadcast.accepted' from generate_series(1, \(PastTests.past))
            """)
    }
}
