internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
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

@Suite(.timeLimit(.minutes(20)))
struct ImportTests {
    @Test func `an imported channel is active and found from then on`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let channel = try await stores.adopt(of: "com.example.goal")
            #expect(try channel.state == .active && channel.bundleID == .sample() && channel.label == "by hand")
            #expect(try await problem { try await stores.adopt() } == .channelExists)
            #expect(try await problem { try await stores.adopt("b", of: "com.example.none") } == .appNotFound)
        }
    }

    @Test func `an imported channel replaces the planned one of a waiting event and gets its messages`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.align()
            try await stores.accept(.update())
            try await stores.adopt(for: "match-1")
            try await stores.align()
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.sendOne().message.channelID == "console==")
        }
    }

    @Test func `an import for an event with a channel, or for one that is over or unknown, is refused`() async throws {
        try await withStores { stores in
            try await stores.open()
            #expect(try await problem { try await stores.adopt(for: "match-1") } == .channelExists)
            #expect(
                try await problem { try await stores.adopt("x", for: "match-1", .noMessageStored) } == .invalidRequest)
            #expect(try await problem { try await stores.adopt(for: "other") } == .eventNotFound)
            try await stores.cancel()
            #expect(try await problem { try await stores.adopt(for: "match-1") } == .eventEnded)
            // None of the refused imports stored a channel.
            let channels = try await stores.channels.channels(
                of: .sample(), in: .production, where: ChannelFilter(channelID: "console=="), PageRequest())
            #expect(channels.items.isEmpty)
        }
    }

    @Test func `of two concurrent imports one succeeds`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let taken = try await concurrently(4) { _ in (try? await stores.adopt()) != nil }
            #expect(taken.count { $0 } == 1)
        }
    }
}

/// An audience that is reached by tokens has no channel, and nothing waits for one.
struct DeliveryByTokensTests {
    private static func audience(_ delivery: Audience.Delivery) throws -> Audience {
        var audience = try Audience.sample()
        audience.delivery = delivery
        return audience
    }

    @Test func `an audience with delivery by tokens gets no channel, and none is forecast`() async throws {
        try await withStores { stores in
            let event = try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            #expect(event.specification.audiences.map(\.delivery) == [.tokens])
            #expect(event.channels.map(\.state) == [.none])
            #expect(try await stores.provision().isEmpty)
            let quota = try await stores.quota()
            #expect(quota.forecast.peak == 0)
        }
    }

    @Test func `after a change to tokens the channel retires, and after a change back it is kept`() async throws {
        try await withStores { stores in
            try await stores.open()
            let channel = try await stores.channel()
            try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            #expect(try await stores.count("select count(*) as n from lanes where channel is not null") == 0)
            try await stores.put(.sample(audiences: [try Self.audience(.channel)]))
            #expect(try await stores.count("select count(*) as n from lanes where channel = \(channel.id)") == 1)
            try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            try await stores.align()
            #expect(try await stores.channel().state == .retiring)
            #expect(try await stores.claimChannels().isEmpty)
        }
    }

    @Test func `no channel can be imported for an audience with delivery by tokens`() async throws {
        try await withStores { stores in
            try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            #expect(try await problem { try await stores.adopt(for: "match-1") } == .invalidRequest)
        }
    }
}
