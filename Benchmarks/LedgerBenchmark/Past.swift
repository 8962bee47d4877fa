internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandServer
internal import Postgres

/// What is done again and again beside 500 live events, without a past and with one: an idle server's looks, one
/// channel from its declaration to Apple's answer, and the retirement of hundreds of channels.
struct Past {
    let bench: Bench
    /// Finished events behind the live ones.
    let events: Int
    let rounds: Int

    private static let live = 500
    private static let retired = 300
    private static let looks = 20
    private static let tenure = ChannelTenure(retireAfter: 3_600)

    private struct Costs {
        var idle: [Double] = []
        var quota: [Double] = []
        var creation: [Double] = []
        var retirement: [Double] = []
    }

    func run() async throws {
        let address = try await bench.register("com.example.past")
        try await fill(address, "live", Self.live, isOver: false)
        var number = 0
        // Plans and caches are made before anything is measured.
        _ = try await measure(address, &number)
        let without = try await costs(address, &number)
        try await fill(address, "past", events, isOver: true)
        _ = try await measure(address, &number)
        let with = try await costs(address, &number)

        print("beside \(Self.live) live events, milliseconds: without a past, with \(events) finished events, ratio")
        Self.report("an idle server's looks", without.idle, with.idle)
        Self.report("quotas and forecast", without.quota, with.quota)
        Self.report("one channel made", without.creation, with.creation)
        Self.report("\(Self.retired) channels retired", without.retirement, with.retirement)
    }

    private func costs(_ address: APNsAddress, _ number: inout Int) async throws -> Costs {
        var costs = Costs()
        for _ in 0..<rounds {
            let round = try await measure(address, &number)
            costs.idle += round.idle
            costs.quota += round.quota
            costs.creation += round.creation
            costs.retirement += round.retirement
        }
        return costs
    }

    private func measure(_ address: APNsAddress, _ number: inout Int) async throws -> Costs {
        var costs = Costs()
        for _ in 0..<Self.looks {
            costs.idle.append(try await Bench.seconds { try await look() })
            costs.quota.append(
                try await Bench.seconds { _ = try await bench.channels.quotas(now: Date(), tenure: Self.tenure) })
            number += 1
            let key = "new-\(number)"
            costs.creation.append(try await Bench.seconds { try await make(key, address) })
        }
        number += 1
        let prefix = "over-\(number)"
        try await fill(address, prefix, Self.retired, isOver: false)
        try await bench.pool.query("update events set ended_at = now() where key like \(prefix + "-%")")
        costs.retirement.append(try await Bench.seconds { try await align() })
        try await forget()
        return costs
    }

    /// What a round made belongs to the past, so that every round finds as much that is live.
    private func forget() async throws {
        try await bench.pool.query(
            "update events set ended_at = now() where ended_at is null and key not like 'live-%'")
        try await bench.pool.query(
            "update channels set state = 'deleted', next_attempt_at = null where event_key not like 'live-%'")
        try await bench.pool.query(
            "update lanes set channel = null where channel in (select id from channels where state = 'deleted')")
    }

    private func align() async throws { _ = try await bench.channels.align(now: Date(), tenure: Self.tenure) }

    /// What a server does every five seconds with nothing to do.
    private func look() async throws {
        try await align()
        _ = try await bench.channels.claimDue(now: Date(), leasedUntil: Date(), limit: 32)
        _ = try await bench.channels.nextDue(now: Date())
        _ = try await bench.reconciliations.claimDue(interval: 0, now: Date(), leasedUntil: Date())
        _ = try await bench.reconciliations.nextDue(interval: 0, now: Date())
    }

    private func make(_ key: String, _ address: APNsAddress) async throws {
        guard let key = EventKey(rawValue: key) else { throw Unfit(what: key) }
        let audience = Audience(
            bundleID: address.bundleID, environment: address.environment, storagePolicy: .noMessageStored)
        _ = try await bench.events.put(
            EventSpecification(key: key, name: "Match", audiences: [audience]), within: .all, by: .server, if: .none,
            now: Date())
        try await align()
        let tasks = try await bench.channels.claimDue(
            now: Date(), leasedUntil: Date().addingTimeInterval(Bench.lease), limit: 32)
        guard tasks.count == 1 else { throw Unfit(what: "\(tasks.count) channels due") }
        for task in tasks {
            let (channel, _) = try await bench.calls.create(task, retries: true, by: .server)
            guard channel.state == .active else { throw Unfit(what: "\(channel.state)") }
        }
    }

    /// Events, with their channels when they are live, and ten settled messages each.
    private func fill(_ address: APNsAddress, _ prefix: String, _ count: Int, isOver: Bool) async throws {
        _ = try await bench.pool.transaction { connection in
            try await connection.pipeline([
                "set local session_replication_role = replica",
                """
                create temporary table filling on commit drop as
                    select \(prefix)::text || '-' || n as key, gen_random_uuid() as channel, gen_random_uuid() as broadcast,
                        nextval(pg_get_serial_sequence('lanes', 'id')) as lane
                    from generate_series(1, \(count)::int) n
                """,
                """
                insert into events (key, name, created_at, updated_at, ended_at)
                    select key, 'Match', now(), now(), case when \(isOver) then now() end from filling
                """,
                """
                insert into channels (id, bundle_id, environment, storage_policy, state, channel_id, event_key,
                        created_at, changed_at)
                    select channel, \(address.bundleID.rawValue), \(address.environment.rawValue)::environment,
                        'noMessageStored', case when \(isOver) then 'deleted' else 'active' end::channel_state,
                        'made-' || channel, key, now(), now() from filling
                """,
                """
                insert into lanes (id, bundle_id, environment, storage_policy, channel, newest_broadcast)
                    overriding system value
                    select lane, \(address.bundleID.rawValue), \(address.environment.rawValue)::environment,
                        'noMessageStored', case when not \(isOver) then channel end, broadcast from filling
                """,
                """
                insert into audiences (event_key, bundle_id, environment, storage_policy, position, lane)
                    select key, \(address.bundleID.rawValue), \(address.environment.rawValue)::environment,
                        'noMessageStored', 0, lane from filling
                """,
                """
                insert into broadcasts (id, event_key, event, content_state, accepted_at)
                    select broadcast, key, 'update', '{}', now() from filling
                """,
                """
                insert into deliveries (broadcast_id, lane, state, is_end, alerting, priority, apns_expiration,
                        expires_at, attempts, apns_timestamp, apns_request_id, settled_at)
                    select broadcast, lane, 'accepted', false, false, 5, 0, now(), 1, 1, gen_random_uuid(), now()
                    from filling, generate_series(1, 10)
                """,
            ])
        }
        try await bench.pool.query("analyze")
    }

    private static func report(_ what: String, _ without: [Double], _ with: [Double]) {
        let milliseconds = [without.median, with.median].map { String(format: "%9.2f", $0 * 1_000) }.joined()
        print(
            "  \(what.padding(toLength: 28, withPad: " ", startingAt: 0))\(milliseconds)"
                + "  ratio \(Reconciling.ratio(with.median / without.median))")
    }
}
