internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandServer
internal import Postgres

/// A reconciliation of a full app beside what it cannot do without: fetching the list, and one upsert of as many rows.
struct Reconciling {
    let bench: Bench
    let channels: Int
    let rounds: Int

    func run() async throws {
        let address = try await bench.register("com.example.reconciling")
        let ids = try await bench.createAtApple(channels, at: address)
        try await bench.pool.query(
            // The ledger's own columns and key: what a row costs, without what is done with it.
            "create table upserted (like unmanaged_channels including all)")
        var fetches: [Double] = []
        var upserts: [Double] = []
        var firsts: [Double] = []
        var matched: [Double] = []
        var growth = 0
        for _ in 0..<rounds {
            fetches.append(try await Bench.seconds { try await fetch(address) })
            upserts.append(try await Bench.seconds { try await upsert(ids) })

            // First everything is new to the ledger, then all of it is the ledger's own.
            try await bench.pool.query("delete from unmanaged_channels")
            try await bench.pool.query("delete from channels")
            let before = Memory.mark()
            firsts.append(
                try await Bench.seconds {
                    let report = try await reconcile(address)
                    guard report.unmanaged?.count == channels else { throw Unfit(what: "\(report.notes)") }
                })
            try await own(ids, address)
            matched.append(
                try await Bench.seconds {
                    let report = try await reconcile(address)
                    guard report.matched == channels, report.unmanaged == [] else {
                        throw Unfit(what: "\(report.notes)")
                    }
                })
            growth = max(growth, Memory.peakMegabytes - before)
        }
        let floor = fetches.median + upserts.median
        print("reconciling \(channels) channels, medians of \(rounds), milliseconds")
        print("  list fetched          \(Self.milliseconds(fetches.median))")
        print("  rows upserted         \(Self.milliseconds(upserts.median))")
        print("  all new to the ledger \(Self.milliseconds(firsts.median))  ratio \(Self.ratio(firsts.median / floor))")
        print(
            "  all in the ledger     \(Self.milliseconds(matched.median))  ratio \(Self.ratio(matched.median / floor))")
        print("  memory grown by \(growth) MB at the peak, the simulator's answer included")
    }

    private func fetch(_ address: APNsAddress) async throws {
        guard case .accepted(let listing, _) = await bench.gateway.listChannels(at: address),
            listing.channelIDs.count == channels
        else { throw Unfit(what: "the list is not whole") }
    }

    private func upsert(_ ids: [String]) async throws {
        try await bench.pool.query(
            """
            insert into upserted (bundle_id, environment, channel_id, first_seen_at)
            select 'com.example.reconciling', 'development', id, now() from unnest(\(ids)) as l(id)
            on conflict (bundle_id, environment, channel_id) do update set first_seen_at = excluded.first_seen_at
            """)
    }

    private func own(_ ids: [String], _ address: APNsAddress) async throws {
        try await bench.pool.query(
            """
            insert into channels (id, bundle_id, environment, storage_policy, state, channel_id, created_at, changed_at)
            select gen_random_uuid(), \(address.bundleID.rawValue), 'development', 'noMessageStored', 'active', id,
                now() - interval '1 hour', now() - interval '1 hour'
            from unnest(\(ids)) as l(id)
            """)
        try await bench.pool.query("vacuum analyze channels")
    }

    private func reconcile(_ address: APNsAddress) async throws -> Contract.Reconciliation {
        let run = try await bench.reconciliations.begin(
            address.app, now: Date(), leasedUntil: Date().addingTimeInterval(Bench.lease))
        return try await bench.reconciliation.perform(
            run, ReconciliationOptions(apply: true, grace: 600, deleteBudget: 100), by: .server)
    }

    static func milliseconds(_ seconds: Double) -> String { String(format: "%8.1f", seconds * 1_000) }

    static func ratio(_ ratio: Double) -> String { String(format: "%.2f", ratio) }
}
