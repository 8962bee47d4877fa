internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import PortFakes
internal import Postgres
internal import Testing

@testable internal import GrandstandHTTP

/// `/v1/apps/{bundleId}/{environment}/reconciliations`.
struct ReconciliationRouteTests {
    private static let base = "/v1/apps/com.example.Stadium/production/reconciliations"
    private static let one = base + "/11111111-2222-4333-8444-555555555555"
    private static let selector = AppEnvironment(bundleID: Sample.stadium, environment: .production)

    /// A server whose channels differ: some are only in Apple's list (`unmanaged`), some only in the ledger
    /// (`vanished`).
    private static func world(unmanaged: Int = 0, vanished: Int = 0) -> RouteWorld {
        let strays = (0..<unmanaged).map { number in
            UnmanagedChannel(
                channelID: "stray-\(number)", firstSeenAt: RouteWorld.now.addingTimeInterval(-3_600),
                storagePolicy: .noMessageStored)
        }
        let entries = (0..<vanished).map { number in
            LedgerSnapshot.Entry(
                id: UUID(), channelID: "ours-\(number)", state: .active, storagePolicy: .noMessageStored,
                eventKey: Sample.derby, changedAt: RouteWorld.now.addingTimeInterval(-3_600))
        }
        var world = RouteWorld()
        world.reconciliations.start = { app in
            guard app == selector else { throw Unasked() }
            return ReconciliationRun(id: UUID(), address: Sample.address, startedAt: RouteWorld.now, failures: 0)
        }
        world.gateway.list = { _ in
            .accepted(ChannelListing(channelIDs: strays.map(\.channelID)), .init(requestID: nil))
        }
        world.gateway.read = { _, _ in .refused(APNsRefusal(status: 410, reason: .channelNotRegistered)) }
        world.reconciliations.compare = { _ in
            LedgerSnapshot(entries: entries, unmanaged: strays, listedAt: RouteWorld.now)
        }
        world.reconciliations.hold = {}
        world.reconciliations.end = { _ in }
        return world
    }

    @Test(
        arguments: [
            (nil, false, []), ("{}", false, []), (#"{"apply": false}"#, false, []),
            (#"{"adopt": true}"#, false, ["adopt"]), (#"{"deleteUnmanaged": true}"#, false, ["delete-unmanaged"]),
        ] as [(String?, Bool, [String])])
    func `without apply the plan is returned with the given options`(
        body: String?, isApplied: Bool, actions: [String]
    ) async throws {
        let answer = try await Self.world(unmanaged: 1)("POST", Self.base, body.map { Array($0.utf8) })
        #expect(answer.status == 201)
        #expect(answer.json["applied"] as? Bool == isApplied)
        #expect(answer.json["apple"] as? Int == 1)
        let done = answer.json["actions"] as? [[String: Any]] ?? []
        #expect(done.map { $0["action"] as? String } == actions)
        #expect(done.allSatisfy { $0["done"] as? Bool == false })
        #expect((answer.json["unmanaged"] as? [[String: Any]])?.map { $0["channelId"] as? String } == ["stray-0"])
    }

    @Test func `apply and recreate are passed on`() async throws {
        #expect(
            try await Self.world()("POST", Self.base, #"{"apply": true}"#).json["applied"] as? Bool == true)
        let alarmed = try await Self.world(vanished: 2)("POST", Self.base, "{}")
        #expect(alarmed.json["alarm"] as? String == "capability-off")
        let taken = try await Self.world(vanished: 2)("POST", Self.base, #"{"recreate": true}"#)
        #expect(taken.json["alarm"] as? String == nil)
        #expect(
            (taken.json["actions"] as? [[String: Any]])?.map { $0["action"] as? String } == [
                "mark-missing", "mark-missing",
            ])
    }

    @Test func `if Apple's list cannot be read the answer says so`() async throws {
        var world = Self.world()
        world.gateway.list = { _ in .unanswered("no answer") }
        let answer = try await world("POST", Self.base, "{}")
        #expect(answer.status == 504)
        #expect(answer.slug == "apns-unanswered")
    }

    @Test func `a report is returned with the bytes that are stored, page by page`() async throws {
        try await withRoutes { world in
            world.apps.find = { _ in Sample.app() }
            world.reports = PostgresReconciliationStore(world.database)
            _ = try await PostgresAppStore(world.database).put(Sample.app(), by: .server)
            let reports = [Sample.otherID, Sample.id].map { Self.report($0) }
            for (id, report) in zip([Sample.otherID, Sample.id], reports) {
                try await world.database.query(
                    """
                    insert into reconciliations (id, bundle_id, environment, started_at, finished_at, report)
                    values (\(id), 'com.example.Stadium', 'production', \(RouteWorld.now), \(RouteWorld.now),
                        \(report)::text::json)
                    """)
            }
            #expect(try await world("GET", Self.one).text == reports[1])
            let first = try await world("GET", Self.base + "?limit=1")
            #expect(first.text.hasPrefix(#"{"items":[\#(reports[0])],"#), "\(first.text)")
            let cursor = try #require(first.json["nextCursor"] as? String)
            let second = try await world("GET", Self.base + "?limit=1&cursor=\(PercentEncoding.encode(cursor))")
            #expect(second.text == #"{"items":[\#(reports[1])],"nextCursor":null}"#)
            try await world.database.query("delete from reconciliations")
            let none = try await world("GET", Self.one)
            #expect(none.slug == "reconciliation-not-found" && none.detail.contains("last 50 are kept"))
        }
    }

    /// A report with white space that the server must not change.
    private static func report(_ id: UUID) -> String {
        #"{"id": "\#(id.uuidString.lowercased())", "bundleId": "com.example.Stadium", "environment": "production", "#
            + #""actor": "grandstand", "startedAt": "2026-11-21T20:45:00.000Z", "#
            + #""finishedAt": "2026-11-21T20:45:01.000Z", "applied": false, "apple": 0, "ledger": 0, "matched": 0, "#
            + #""missing": [], "unmanaged": [], "actions": [], "alarm": null, "notes": []}"#
    }
}
