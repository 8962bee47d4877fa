internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Every field of a message and of a lane has its column (`Columns`).
struct ColumnTests {
    @Test func `a message is read as it was inserted and changed`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update())
            _ = try await stores.sendOne()
            let broadcast = try await stores.accept(.update())
            let before = try #require(try await message(of: broadcast.id, stores))
            let lane = try #require(try await lanes(stores).first)
            let time = stores.now.inMicroseconds
            let full = LaneMessage(
                id: before.id, broadcast: broadcast.id, state: .sending, isEnd: true,
                priority: .immediate, plainPriority: .lowest, alerting: true, ringsUntil: time + 1, apnsExpiration: 2,
                expiresAt: time + 3, attempts: 4, refusals: 5, nextAttemptAt: time + 6, timestamp: 7,
                requestID: UUID(), uniqueID: "8", channelID: "9", reason: "10", settledAt: nil, hasContent: true,
                contentBefore: UUID(), contentOf: UUID(), contentSent: true, contentBytes: 11, alertBytes: 12,
                fanOut: FanOut(cursor: 13, waiting: 14, total: 16))
            var leased = lane
            leased.lease = Lane.Lease(replica: stores.replica, until: time + 17)
            let (row, old) = (DeliveryRow(full, of: leased), DeliveryRow(before, of: lane))
            try await stores.pool.query(
                DeliveryRow.columns.update([row], from: [old], ids: [try #require(before.id)]))
            #expect(try await message(of: broadcast.id, stores) == full)

            try await stores.pool.query("delete from deliveries")
            let inserted = try await stores.pool.query(LaneRows.insert([row]))
            var expected = full
            expected.id = try inserted.first?.decode(Int.self, "id")
            #expect(try await message(of: broadcast.id, stores) == expected)
            // Each field has a value that differs from its default.
            let blank = LaneMessage(broadcast: UUID(), expiresAt: time, requestID: UUID())
            for (field, other) in zip(Mirror(reflecting: full).children, Mirror(reflecting: blank).children)
            where !["hasContent", "dismissalDate", "settledAt"].contains(field.label) {
                #expect("\(field.value)" != "\(other.value)", "\(field.label ?? "")")
            }
        }
    }

    @Test func `a lane is read as it was written`() async throws {
        try await withStores { stores in
            try await stores.open()
            let lane = try #require(try await lanes(stores).first)
            let time = stores.now.inMicroseconds
            var full = lane
            full.lastTimestamp = 1
            full.readyAt = time + 2
            full.fencedAt = time + 3
            full.closedAt = time + 4
            full.newest = UUID()
            full.storedUntil = time + 5
            for statement in LaneRows.write([full], loaded: [lane], at: time) {
                try await stores.pool.query(statement)
            }
            #expect(try await lanes(stores) == [full])
        }
    }

    private func message(of broadcast: UUID, _ stores: Stores) async throws -> LaneMessage? {
        try await stores.pool.query(DeliveryRow.read(where: "d.broadcast_id = \(broadcast)")).first
            .map(DeliveryRow.message)
    }

    private func lanes(_ stores: Stores) async throws -> [Lane] {
        try await stores.pool.query(LaneRow.read("array(select id from lanes)")).map { try LaneRow.lane($0, []) }
    }
}
