internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

@Suite(.timeLimit(.minutes(20)))
struct LiveStoreTests {
    @Test func `an event's live board shows the newest broadcasts and their states`() async throws {
        try await withStores { stores in
            let store = PostgresLiveStore(Database(stores.pool))
            try await stores.open(audiences: [.sample(), .sample("com.example.Other")])
            let first = try await stores.accept(.update(alert: #""Goal""#))
            for delivery in try await stores.claim() { try await stores.settle(delivery, .ok) }
            stores.clock.advance(by: 1)
            let second = try await stores.accept(.update(sendAt: stores.now + 60))
            let key = try EventKey.sample()
            let boards = try await store.boards(of: [key, try .sample("nothing")], now: stores.now)
            #expect(boards.count == 1)
            let board = try #require(boards[key])
            #expect(board.state == .live)
            #expect(board.broadcasts.map(\.id) == [second.id, first.id])
            #expect(board.broadcasts.map(\.state) == [.scheduled, .done])
            #expect(board.broadcasts.map(\.counts) == [[:], [.accepted: 2]])
        }
    }

    @Test func `a board has only events and messages within reach`() async throws {
        try await withStores { stores in
            let store = PostgresLiveStore(Database(stores.pool))
            try await stores.open(audiences: [.sample("com.example.A"), .sample("com.example.B")])
            let both = try await stores.accept(.update())
            try await stores.accept(.update(audiences: [.sample("com.example.B")]))
            let key = try EventKey.sample()
            let reach = AppReach.only([try .sample("com.example.A")])
            #expect(try await store.boards(of: [key], within: reach, now: stores.now).isEmpty)
            try await stores.put(.sample(audiences: [.sample("com.example.A")]))
            let board = try #require(try await store.boards(of: [key], within: reach, now: stores.now)[key])
            #expect(board.broadcasts.map(\.id) == [both.id])
            #expect(board.broadcasts.map { $0.counts.values.reduce(0, +) } == [1])
            #expect(try await store.boards(of: [key], now: stores.now)[key]?.broadcasts.count == 2)
        }
    }

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
            try await world.settle(shards[0]) { _ in .rejected(reason: "BadPriority") }
            #expect(try await counts() == [.accepted: 1, .rejected: 1])
            _ = try await hooks.compose()
            let body = String(decoding: try #require(try await hooks.claim().first).body, as: UTF8.self)
            for count in [#""accepted":1"#, #""rejected":1"#, #""BadPriority":1"#] {
                #expect(body.contains(count), "\(body)")
            }
        }
    }
}
