internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The store loads and writes only those messages of a lane that a step needs.
@Suite(.timeLimit(.minutes(20)))
struct LaneStoreTests {
    @Test func `each step of the store changes a lane as the rule does with all messages at hand`() async throws {
        try await withStores { stores in
            var seen: Set<Contract.DeliveryState> = []
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
    private let stores: StoreWorld
    private let key: String
    private var random: UInt64
    private var broadcasts: [UUID] = []
    private var underWay: ClaimedDelivery?

    init(_ stores: StoreWorld, seed: UInt64) {
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
        let messages = try await stores.pool.query(DeliveryRow.select(where: "d.lane = any(\(ids))"))
        let row = try #require(try await stores.pool.query(LaneRows.select(ids)).first)
        return try LaneRows.lane(row, try messages.map(DeliveryRow.message))
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
        expected[.channel].lease = actual[.channel].lease
        expected[.channel].storedDue = actual[.channel].storedDue
        try #require(actual == expected, "\(key)")
    }

    private mutating func accept(_ expected: inout Lane) async throws {
        let text = #"{"n":\#(broadcasts.count)}"#
        let request: Contract.BroadcastDraft =
            pick(20) == 0
            ? .end(text) : .update(text, alert: pick(3) == 0 ? "{}" : nil, expiresIn: pick(4) == 0 ? 20 : nil)
        let accepted = try? await stores.accept([request], for: key)[0].get()
        #expect((accepted == nil) == (expected.fencedAt != nil))
        guard let accepted else { return }
        broadcasts.append(accepted.uuid)
        expected.accept(try #require(try await lane().messages.last), at: stores.now)
    }

    private mutating func claim(_ expected: inout Lane) async throws {
        let lane = expected.id
        underWay = try await stores.claim(laneInterval: 1).first { $0.lane == lane } ?? underWay
        guard let due = expected.dueTime(at: stores.now), due <= stores.now else { return }
        let requestID = try await self.lane().messages.first { $0.state == .sending }?.requestID
        var claim = stores.request()
        claim.laneInterval = 1
        _ = expected.take(claim, requestID: { requestID ?? UUID() })
    }

    private mutating func settle(_ expected: inout Lane) async throws {
        guard let delivery = underWay else { return }
        underWay = nil
        let later = stores.now + 3
        let verdicts: [Verdict] = [
            .ok, .ok, .retry(at: later, reason: "x"), .throttled(until: later, reason: "x"), .rejected(.badRequest),
        ]
        var settlement = delivery.settled(verdicts[pick(5)], at: stores.now)
        settlement.mayHaveBeenProcessed = pick(3) == 0
        try await stores.outbox.tryRecord([settlement])
        expected.settle(settlement, at: stores.now)
    }

    private mutating func withdraw(_ expected: inout Lane) async throws {
        guard !broadcasts.isEmpty else { return }
        let id = broadcasts[max(0, broadcasts.count - 1 - pick(4))]
        let wasCancelled = expected.messages.contains { $0.broadcast == id && $0.state == .cancelled }
        let isDone = try await stores.outbox.cancel(id, within: .all, by: .server, now: stores.now)
        #expect(isDone == (expected.withdraw(id, at: stores.now) || wasCancelled))
    }

    /// Compares the event and its lookup with the lane.
    ///
    /// - Returns: the states of the lane's messages.
    func finish() async throws -> Set<Contract.DeliveryState> {
        let lane = try await lane()
        let lookup = try #require(try await stores.lookup(key))
        let newest = broadcasts.firstIndex { $0 == lane.newest }
        #expect(lookup.contentState?.description == newest.map { #"{"n":\#($0)}"# })
        #expect((lookup.state == .ended) == (lane.fencedAt != nil))
        return Set(lane.messages.map(\.state))
    }
}

/// Every field of a message and of a lane has its column (`Columns`).
struct ColumnTests {
    @Test func `a message is read as it was inserted and changed`() async throws {
        try await withEvent { stores in
            try await stores.accept(.update())
            _ = try await stores.sendOne()
            let broadcast = try await stores.accept(.update())
            let before = try #require(try await message(of: broadcast.uuid, stores))
            let lane = try #require(try await lanes(stores).first)
            let time = stores.now.asStored
            var progress = TokenProgress()
            (progress.total, progress.accepted, progress.isSwept, progress.waiting) = (16, 13, true, 14)
            let full = LaneMessage(
                id: before.id, broadcast: broadcast.uuid, state: .sending, isEnd: true,
                priority: .immediate, silentPriority: .lowest, hasAlert: true, ringsUntil: time + 1, apnsExpiration: 2,
                expiresAt: time + 3, attempts: 4, unprocessed: 5, nextAttemptAt: time + 6, timestamp: 7,
                requestID: UUID(), uniqueID: "8", channelID: "9", reason: "10", settledAt: nil, hasContent: true,
                contentBefore: UUID(), contentOf: UUID(), contentCarried: true, contentBytes: 11, alertBytes: 12,
                tokens: progress)
            var leased = lane
            leased[.tokens].lease = Lane.Lease(replica: stores.replica, until: time + 17)
            try await stores.pool.query(
                DeliveryRow.columns.update([(leased, full)], from: [(lane, before)], ids: [try #require(before.id)]))
            #expect(try await message(of: broadcast.uuid, stores) == full)

            try await stores.pool.query("delete from deliveries")
            try await stores.pool.query(DeliveryRow.columns.insert([(leased, full)]))
            var inserted = try #require(try await message(of: broadcast.uuid, stores))
            inserted.id = full.id
            #expect(inserted == full)
            // Each field has a value that differs from its default.
            let blank = LaneMessage(broadcast: UUID(), expiresAt: time, requestID: UUID())
            for (field, other) in zip(Mirror(reflecting: full).children, Mirror(reflecting: blank).children)
            where !["hasContent", "dismissalDate", "settledAt"].contains(field.label) {
                #expect("\(field.value)" != "\(other.value)", "\(field.label ?? "")")
            }
        }
    }

    @Test func `a lane is read as it was written`() async throws {
        try await withEvent { stores in
            let lane = try #require(try await lanes(stores).first)
            let time = stores.now.asStored
            var full = lane
            full[.channel].lastTimestamp = 1
            full[.channel].readyAt = time + 2
            full.fencedAt = time + 3
            full.closedAt = time + 4
            full.newest = UUID()
            full.lastState = UUID()
            full.storedUntil = time + 5
            full[.tokens].lease = Lane.Lease(replica: UUID(), until: time + 6)
            (full[.tokens].lastTimestamp, full[.tokens].readyAt) = (7, time + 8)
            for statement in LaneRows.write([full], loaded: [lane], at: time) {
                try await stores.pool.query(statement)
            }
            #expect(try await lanes(stores) == [full])
            for (field, other) in zip(Mirror(reflecting: full).children, Mirror(reflecting: lane).children)
            where !["id", "audience", "channel", "messages"].contains(field.label) {
                #expect("\(field.value)" != "\(other.value)", "\(field.label ?? "")")
            }
        }
    }

    private func message(of broadcast: UUID, _ stores: StoreWorld) async throws -> LaneMessage? {
        try await stores.pool.query(DeliveryRow.select(where: "d.broadcast_id = \(broadcast)")).first
            .map(DeliveryRow.message)
    }

    private func lanes(_ stores: StoreWorld) async throws -> [Lane] {
        try await stores.pool.query(LaneRows.select("array(select lane from audiences)")).map {
            try LaneRows.lane($0, [])
        }
    }
}
