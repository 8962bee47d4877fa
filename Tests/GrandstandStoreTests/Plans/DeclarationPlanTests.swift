internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// A season is declared within a minute after the server was set up. Then the statistics, and the prepared plans of all
/// open connections, date from when the tables had only a few rows.
@Suite(.timeLimit(.minutes(3)))
struct DeclarationPlanTests {
    /// The number of rows that a step of a plan may read for a handful of events.
    private static let bound = 100

    @Test(arguments: [0, 3])
    func `statements and triggers read only the rows of their event`(analyzedWith few: Int) async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            try await stores.open()
            if few > 0 { try await PlanTests.fill(database.pool, events: few, analyzed: true) }
            let plans = Plans()
            var configuration = PostgresConfiguration.stores(connectionString: database.connectionString)
            // With one connection, each statement uses the plan that was made for it earlier.
            configuration.maximumConnections = 1
            try await PlanTests.withPool(configuration, plans, analyzing: true) { pool in
                let (events, channels) = (PostgresEventStore(Database(pool)), PostgresChannelStore(Database(pool)))
                try await Self.declare(0..<8, events, channels, stores)
                try await PlanTests.fill(database.pool, after: few, events: 5_000, analyzed: false)
                plans.forget()
                try await Self.declare(8..<16, events, channels, stores)
            }
            #expect(plans.all.contains { $0.contains("insert into audiences") })
            // Two kinds of statements may read more rows. An alignment counts all channels in use, once for many
            // events. The check whether Apple's ID is known already may read all channels of the app, at most 10,000,
            // if a session planned it before there were statistics.
            let ofApp = [
                "with due as materialized", "with overdue as", "insert into channels",
                "not exists (select from channels x",
            ]
            for plan in plans.all where !ofApp.contains(where: plan.contains) {
                #expect(PastTests.rows(plan) <= Self.bound, "\(plan)")
            }
        }
    }

    private static func declare(
        _ range: Range<Int>, _ events: PostgresEventStore, _ channels: PostgresChannelStore, _ stores: Stores
    ) async throws {
        for number in range {
            _ = try await events.put(.sample("new-\(number)"), now: stores.now)
            _ = try await channels.align(now: stores.now, tenure: Stores.tenure)
            let tasks = try await channels.claimDue(
                now: stores.now, leasedUntil: stores.now.addingTimeInterval(10), limit: 32)
            #expect(tasks.count == 1)
            for task in tasks {
                _ = try await channels.record(
                    ChannelOutcome(
                        .created(channelID: "new-\(number)"), APNsRecord(status: 200, reason: nil, requestID: nil)),
                    of: task, by: .server, now: stores.now)
            }
        }
    }
}
