internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// A crowd is one entry in all reports.
@Suite(.timeLimit(.minutes(1)))
struct CrowdEntryTests {
    @Test func `live views and webhooks count a crowd once, by its unsettled deliveries`() async throws {
        try await withCrowds { world in
            let stores = world.stores
            let hooks = Hooks(stores)
            try await hooks.add([.broadcastSettled])
            let key = try await stores.open()
            try await world.show("aa01")
            try await world.show("aa02", frequent: false)
            let broadcast = try await stores.accept(.update())
            try await stores.sendOne()
            let live = PostgresLiveStore(Database(stores.pool))
            func counts() async throws -> [Delivery.State: Int] {
                try #require(try await live.boards(of: [key], now: stores.now)[key]?.broadcasts.first).counts
            }
            #expect(try await counts() == [.accepted: 1, .queued: 1])
            let shards = try await world.claim()
            try #require(shards.count == 1)
            #expect(try await counts() == [.accepted: 1, .sending: 1])
            #expect(try await world.tokens(of: broadcast).state == .sending)
            try await world.settle(shards[0])
            #expect(try await counts() == [.accepted: 2])
            _ = try await hooks.compose()
            let body = String(decoding: try #require(try await hooks.claim().first).body, as: UTF8.self)
            #expect(body.contains(#""accepted":2"#), "\(body)")
        }
    }

    @Test func `a reason is counted once for a crowd`() async throws {
        try await withCrowds { world in
            let stores = world.stores
            let hooks = Hooks(stores)
            try await hooks.add([.broadcastSettled])
            try await stores.open()
            try await world.show("aa01")
            try await world.show("aa02", frequent: false)
            try await stores.accept(.update())
            try await stores.sendOne()
            for shard in try await world.claim() {
                try await world.settle(shard) { _ in .rejected(reason: "BadPriority") }
            }
            _ = try await hooks.compose()
            let body = String(decoding: try #require(try await hooks.claim().first).body, as: UTF8.self)
            #expect(body.contains(#""BadPriority":1"#), "\(body)")
            #expect(body.contains(#""rejected":1"#), "\(body)")
        }
    }
}
