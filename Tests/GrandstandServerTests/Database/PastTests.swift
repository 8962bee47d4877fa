internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Frequent statements read only live rows, and janitors only the rows that they delete. 19,900 events are over and 100
/// are live.
@Suite(.timeLimit(.minutes(20)))
struct PastTests {
    private static let live = 100
    private static let past = PlanWorld.events - live
    /// The number of rows that a step of a plan may read.
    private static let bound = live * 20

    /// Runs a test with the past, and with sessions that report their plans and the rows that these read.
    private static func with(analyzed: Bool, _ body: (StoreWorld, PostgresPool, Plans) async throws -> Void)
        async throws
    {
        try await withDatabase(.own) { database in
            let stores = StoreWorld(database)
            try await stores.open()
            try await PlanWorld.fill(database.pool, past: past, now: stores.now, analyzed: analyzed)
            let plans = Plans()
            try await PlanWorld.withPool(
                .stores(connectionString: database.connectionString), plans, analyzing: true
            ) { pool in try await body(stores, pool, plans) }
            #expect(plans.all.contains { Plans.rows($0) > 0 })
            for plan in plans.all { #expect(Plans.rows(plan) <= bound, "\(Plans.rows(plan)) rows: \(plan)") }
        }
    }

    /// - Parameter analyzed: `false`: the statistics still say that the tables are empty, and the test gives the
    ///   statements nothing to change.
    @Test(arguments: [true, false])
    func `aligning, counting, forecasting and claiming do not read past events`(analyzed: Bool) async throws {
        try await Self.with(analyzed: analyzed) { stores, pool, plans in
            let channels = ChannelStore(Database(pool))
            try await stores.pool.query(
                """
                insert into audit_log (at, actor, action)
                select \(stores.now), 'key:desk', 'broadcast.accepted' from generate_series(1, \(PlanWorld.events))
                """)
            // PostgreSQL decides on the final plan of a prepared statement after five executions.
            for _ in 1...7 {
                #expect(try await channels.align(now: stores.now, tenure: StoreWorld.tenure) == 0)
                let quotas = try await channels.quotas(now: stores.now, tenure: StoreWorld.tenure)
                #expect(quotas.map(\.used).max() == Self.live + 1)
                #expect(quotas.map(\.forecast.peak).max() == Self.live + 1)
                try await channels.keepSamples(of: quotas, at: stores.now)
                _ = try await channels.claimDue(now: stores.now, leasedUntil: stores.now, limit: 32)
                _ = try await channels.nextDue(now: stores.now)
                _ = try await channels.claimDue(interval: 0, now: stores.now, leasedUntil: stores.now)
                let gauges = GaugeWatch(channels, tenure: StoreWorld.tenure, now: { stores.now })
                let backlog = try await gauges.backlog(now: stores.now)
                #expect(backlog.allSatisfy { $0.name != "grandstand_deliveries_pending" || $0.value == 0 })
            }
            #expect(plans.all.count > 50)
            guard analyzed else { return }
            // Now there is something to do: one channel must be created, and ten must retire and be deleted.
            try await stores.put(.sample(), as: "new")
            try await stores.pool.query("update events set ended_at = \(stores.now) where key like 'event-1999_'")
            #expect(try await channels.align(now: stores.now, tenure: StoreWorld.tenure) >= 11)
            stores.clock.advance(by: StoreWorld.retireAfter)
            let tasks = try await channels.claimDue(
                now: stores.now, leasedUntil: stores.now + 10, limit: 32)
            #expect(tasks.count == 11)
            for task in tasks { try await Self.succeed(task, channels, stores) }
        }
    }

    @Test func `the backlog of webhooks that take nothing is not read`() async throws {
        try await Self.with(analyzed: true) { stores, pool, _ in
            let hooks = try await Hooks(stores)
            for _ in 1...2 { try await hooks.add([.capabilityOff]) }
            try await stores.pool.query(
                """
                insert into webhook_messages (webhook, message, topic, body, next_attempt_at, created_at)
                select w.id, gen_random_uuid(), 'capability.off', '{}', \(stores.now), \(stores.now)
                from webhooks w, generate_series(1, \(PlanWorld.events)) n
                """)
            try await stores.pool.query(
                "update webhooks set silent_until = \(stores.now + 1) where id in (select id from webhooks limit 1)")
            try await stores.pool.query(
                "update webhooks set state = 'disabled', reason = 'x' where silent_until is null")
            // The oldest message is one of the disabled webhook, which does not count.
            try await stores.pool.query(
                """
                update webhook_messages set created_at = created_at - interval '100 s'
                where webhook in (select id from webhooks where state = 'disabled')
                """)
            let webhooks = WebhookStore(database: Database(pool), now: { stores.now })
            let gauges = GaugeWatch(ChannelStore(Database(pool)), tenure: StoreWorld.tenure, now: { stores.now })
            for _ in 1...7 {
                let claimed = try await webhooks.claim(10, by: stores.replica, at: stores.now, until: stores.now + 1)
                #expect(claimed.isEmpty)
                let backlog = try await gauges.backlog(now: stores.now)
                #expect(backlog.first { $0.name == "grandstand_webhook_oldest_seconds" }?.value == 0)
            }
        }
    }

    /// Records that Apple did what the task asks for.
    private static func succeed(_ task: ChannelTask, _ channels: ChannelStore, _ stores: StoreWorld)
        async throws
    {
        let outcome: ChannelOutcome =
            task.channel.state == .creating ? .created(channelID: "new-\(task.channel.id)") : .deleted
        _ = try await channels.record(
            outcome, Contract.AuditAnswer(status: 200), of: task, by: .server, now: stores.now)
    }

    /// Janitors look for old rows every ten minutes. If there are none, nothing is read.
    @Test(arguments: [true, false])
    func `kept rows are not read, and removed ones are found by index`(analyzed: Bool) async throws {
        try await Self.with(analyzed: analyzed) { stores, pool, plans in
            try await stores.pool.query(
                """
                insert into audit_log (at, actor, action)
                select \(stores.now), 'key:desk', 'broadcast.accepted' from generate_series(1, \(PlanWorld.events))
                """)
            let history = Database(pool)
            for _ in 1...7 {
                for rows in Retention.rules().map(\.name) {
                    let before = stores.now.addingTimeInterval(-2 * 86_400)
                    let count = try await history.prune(rows, before: before, limit: 50)
                    #expect(count == 0)
                }
            }
            for plan in plans.all { #expect(Plans.rows(plan) <= 50, "\(Plans.rows(plan)) rows: \(plan)") }
            plans.forget()
            for _ in 1...7 {
                for rows in ["events", "channels"] {
                    let count = try await history.prune(rows, before: stores.now + 1, limit: 50)
                    #expect(count >= 50)
                }
            }
            #expect(plans.missing(of: ["delete from events"]) == nil)
        }
    }

    /// A season is declared within a minute after the server was set up. Then the statistics, and the prepared plans of
    /// all open connections, date from when the tables had only a few rows.
    @Test(arguments: [0, 3])
    func `statements and triggers read only the rows of their event`(analyzedWith few: Int) async throws {
        try await withDatabase(.own) { database in
            let stores = StoreWorld(database)
            try await stores.open()
            if few > 0 { try await PlanWorld.fill(database.pool, events: few, now: stores.now, analyzed: true) }
            let plans = Plans()
            try await PlanWorld.withPool(
                .stores(connectionString: database.connectionString), plans, connections: 1, analyzing: true
            ) { pool in
                let (events, channels) = (EventStore(Database(pool)), ChannelStore(Database(pool)))
                try await Self.declare(0..<8, events, channels, stores)
                try await PlanWorld.fill(database.pool, after: few, events: 5_000, now: stores.now, analyzed: false)
                plans.forget()
                try await Self.declare(8..<16, events, channels, stores)
            }
            #expect(plans.missing(of: ["insert into audiences"]) == nil)
            // Two kinds of statements may read more rows. An alignment counts all channels in use, once for many
            // events. The check whether Apple's ID is known already may read all channels of the app, at most 10,000,
            // if a session planned it before there were statistics.
            let ofApp = [
                "with due as materialized", "set ended_at = $1, expired_at", "insert into channels",
                "not exists (select from channels x",
            ]
            for plan in plans.all where !ofApp.contains(where: plan.contains) {
                #expect(Plans.rows(plan) <= 100, "\(plan)")
            }
        }
    }

    private static func declare(
        _ range: Range<Int>, _ events: EventStore, _ channels: ChannelStore, _ stores: StoreWorld
    ) async throws {
        for number in range {
            _ = try await events.put(.sample(), as: "new-\(number)", now: stores.now)
            _ = try await channels.align(now: stores.now, tenure: StoreWorld.tenure)
            let tasks = try await channels.claimDue(
                now: stores.now, leasedUntil: stores.now + 10, limit: 32)
            #expect(tasks.count == 1)
            for task in tasks { try await Self.succeed(task, channels, stores) }
        }
    }
}
