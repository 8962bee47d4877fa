internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct ChannelListTests {
    private func list(
        _ stores: Stores, _ filter: ChannelFilter = ChannelFilter(), _ page: PageRequest = PageRequest()
    ) async throws -> Page<Channel> {
        try await stores.channels.channels(of: .sample("COM.example.goal"), in: .production, where: filter, page)
    }

    @Test func `channels are paged in the order of creation, each once`() async throws {
        try await withStores { stores in
            for n in 1...5 { try await stores.put(.sample("match-\(n)")) }
            try await stores.provision()
            var seen: [Channel] = []
            var cursor: String?
            repeat {
                let page = try await list(stores, ChannelFilter(), PageRequest(limit: 2, cursor: cursor))
                seen += page.items
                cursor = page.nextCursor
            } while cursor != nil
            #expect(Set(seen.map(\.id)).count == 5)
            #expect(seen.count == 5)
            let kind = try await problem { try await list(stores, ChannelFilter(), PageRequest(cursor: "?")) }
            #expect(kind == .invalidRequest)
        }
    }

    @Test func `channels are filtered by state, policy, event and Apple's ID`() async throws {
        try await withStores { stores in
            try await stores.open("a")
            try await stores.open(
                "b", audiences: [.sample("com.example.Goal", .production, .noMessageStored)])
            try await stores.open("d", audiences: [.sample("com.example.Other")])
            try await stores.put(.sample("c"))
            try await stores.align()
            let all = try await list(stores).items
            #expect(Set(all.compactMap(\.eventKey?.rawValue)) == ["a", "b", "c"])
            let byEvent = Dictionary(uniqueKeysWithValues: all.map { ($0.eventKey?.rawValue ?? "", $0) })
            let cases: [(ChannelFilter, Set<String>)] = [
                (ChannelFilter(state: .active), ["a", "b"]), (ChannelFilter(state: .creating), ["c"]),
                (ChannelFilter(state: .deleted), []), (ChannelFilter(storagePolicy: .noMessageStored), ["b"]),
                (ChannelFilter(eventKey: try .sample("a")), ["a"]),
                (ChannelFilter(channelID: byEvent["b"]?.channelID), ["b"]), (ChannelFilter(channelID: "unknown"), []),
                (ChannelFilter(state: .active, storagePolicy: .mostRecentMessageStored), ["a"]),
            ]
            for (filter, keys) in cases {
                #expect(Set(try await list(stores, filter).items.compactMap(\.eventKey?.rawValue)) == keys)
            }
        }
    }
}
