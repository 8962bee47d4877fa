internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct BroadcastListTests {
    @Test func `an event's broadcasts are paged newest first, each once, even with equal times`()
        async throws
    {
        try await withStores { stores in
            let key = try await stores.open()
            try await stores.open("other")
            try await stores.accept(.update(), for: "other")
            var accepted: [UUID] = []
            for step in [0, 0, 0.001, 0, 1] {
                stores.clock.advance(by: step)
                accepted.append(try await stores.accept(.update()).id)
            }
            var seen: [Broadcast] = []
            var cursor: String?
            var sizes: [Int] = []
            repeat {
                let page = try await stores.outbox.broadcasts(of: key, PageRequest(limit: 2, cursor: cursor))
                seen += page.items
                sizes.append(page.items.count)
                cursor = page.nextCursor
            } while cursor != nil
            #expect(sizes == [2, 2, 1])
            #expect(Set(seen.map(\.id)) == Set(accepted))
            #expect(seen.map(\.acceptedAt) == seen.map(\.acceptedAt).sorted(by: >))
            #expect(seen.allSatisfy { $0.deliveries.count == 1 })
        }
    }

    @Test func `broadcasts of one batch are in its order`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let accepted = try await stores.accept(Array(repeating: .update(), count: 20))
            let listed = try await stores.outbox.broadcasts(of: key, PageRequest(limit: 20)).items
            #expect(listed.map(\.id) == (try accepted.reversed().map { try $0.get().id }))
            #expect(listed.last?.acceptedAt == stores.now)
        }
    }

    @Test(arguments: ["x", "MTIzIHg=", ""])
    func `a cursor of another list is refused`(_ cursor: String) async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let kind = try await problem {
                try await stores.outbox.broadcasts(of: key, PageRequest(limit: 2, cursor: cursor))
            }
            #expect(kind == .invalidRequest)
        }
    }

    @Test func `an unknown broadcast or event is not found`() async throws {
        try await withStores { stores in
            let unknown = try await stores.outbox.broadcast(UUID())
            let page = try await stores.outbox.broadcasts(of: .sample(), PageRequest())
            #expect(unknown == nil)
            #expect(page.items.isEmpty)
            #expect(page.nextCursor == nil)
        }
    }
}
