internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// The store loads and writes only those messages of a lane that a step needs.
@Suite(.timeLimit(.minutes(20)))
struct LaneStoreTests {
    @Test func `each step of the store changes a lane as the rule does with all messages at hand`() async throws {
        try await withStores { stores in
            var seen: Set<Delivery.State> = []
            for seed in UInt64(1)...12 {
                try await stores.open("match-\(seed)")
                var steps = LaneSteps(stores, seed: seed)
                for _ in 0..<60 { try await steps.step() }
                seen.formUnion(try await steps.finish())
            }
            #expect(seen.isSuperset(of: [.accepted, .superseded, .cancelled, .expired, .rejected]), "\(seen)")
            #expect(try await stores.rows("deliveries where content_of is not null") > 0)
            #expect(try await stores.deliveriesNeverDue() == 0)
        }
    }
}

/// Random steps of one lane, each done by the store and by the rule.
private struct LaneSteps {
    private let stores: Stores
    private let key: String
    private var random: UInt64
    private var broadcasts: [UUID] = []
    private var underWay: ClaimedDelivery?

    init(_ stores: Stores, seed: UInt64) {
        self.stores = stores
        key = "match-\(seed)"
        random = seed
    }

    private mutating func pick(_ count: Int) -> Int {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(random >> 33) % count
    }

    private func lane() async throws -> Lane {
        let ids: PostgresQuery = "array(select lane from audiences where event_key = \(key))"
        let messages = try await stores.pool.query(DeliveryRow.read(where: "d.lane = any(\(ids))"))
        let row = try #require(try await stores.pool.query(LaneRow.read(ids)).first)
        return try LaneRow.lane(row, try messages.map(DeliveryRow.message))
    }

    mutating func step() async throws {
        var expected = try await lane()
        switch pick(12) {
        case 0..<4: try await accept(&expected)
        case 4..<7: try await claim(&expected)
        case 7..<9: try await settle(&expected)
        case 9..<11: try await withdraw(&expected)
        default: stores.clock.advance(by: [0.25, 1, 6, 20, 900][pick(5)])
        }
        let actual = try await lane()
        // The end of a lease is not always written.
        (expected.lease, expected.waitsSince) = (actual.lease, actual.waitsSince)
        try #require(actual == expected, "\(key)")
    }

    private mutating func accept(_ expected: inout Lane) async throws {
        let text = #"{"n":\#(broadcasts.count)}"#
        let request: BroadcastRequest =
            pick(20) == 0
            ? .end(text) : .update(text, alert: pick(3) == 0 ? "{}" : nil, expiresIn: pick(4) == 0 ? 20 : nil)
        let accepted = try? await stores.accept([request], for: key)[0].get()
        #expect((accepted == nil) == (expected.fencedAt != nil))
        guard let accepted else { return }
        broadcasts.append(accepted.id)
        expected.accept(try #require(try await lane().messages.last), at: stores.now)
    }

    private mutating func claim(_ expected: inout Lane) async throws {
        let lane = expected.id
        underWay = try await stores.claim(laneInterval: 1).first { $0.lane == lane } ?? underWay
        guard let due = expected.due(at: stores.now), due <= stores.now else { return }
        let requestID = try await self.lane().messages.first { $0.state == .sending }?.requestID
        let claim = LaneClaim(
            environment: .production, limit: 1, replica: stores.replica, at: stores.now,
            leasedUntil: stores.now + 5, laneInterval: 1)
        _ = expected.take(claim, requestID: { requestID ?? UUID() })
    }

    private mutating func settle(_ expected: inout Lane) async throws {
        guard let delivery = underWay else { return }
        underWay = nil
        let later = stores.now + 3
        let verdicts: [Verdict] = [
            .ok, .ok, .retry(at: later, reason: "x"), .throttled(until: later, reason: "x"), .rejected(.badRequest),
        ]
        let settlement = Settlement(
            delivery: delivery.id, lane: delivery.lane, verdict: verdicts[pick(5)], at: stores.now,
            mayBeProcessed: pick(3) > 0)
        try await stores.outbox.settle([settlement], replica: stores.replica, now: stores.now)
        _ = expected.settle(settlement, by: stores.replica, at: stores.now)
    }

    private mutating func withdraw(_ expected: inout Lane) async throws {
        guard !broadcasts.isEmpty else { return }
        let id = broadcasts[max(0, broadcasts.count - 1 - pick(4))]
        let wasCancelled = expected.messages.contains { $0.broadcast == id && $0.state == .cancelled }
        let isDone = try await stores.outbox.cancel(id, now: stores.now)
        #expect(isDone == (expected.withdraw(id, at: stores.now) || wasCancelled))
    }

    /// Compares the event and its lookup with the lane.
    ///
    /// - Returns: the states of the lane's messages.
    func finish() async throws -> Set<Delivery.State> {
        let lane = try await lane()
        let entry = try #require(
            try await stores.events.lookup(
                topic: "com.example.goal", in: .production, .sample(key), contentState: true, now: stores.now))
        let newest = broadcasts.firstIndex { $0 == lane.newest }
        #expect(entry.contentState == newest.map { Array(#"{"n":\#($0)}"#.utf8) })
        #expect((entry.state == .ended) == (lane.fencedAt != nil))
        return Set(lane.messages.map(\.state))
    }
}
