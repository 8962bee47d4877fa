internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

@Suite(.timeLimit(.minutes(5)))
struct ImportTests {
    @discardableResult
    private func take(
        _ stores: Stores, _ channelID: String = "console==", _ policy: StoragePolicy = .mostRecentMessageStored,
        for eventKey: String? = nil, of bundleID: String = "com.example.Goal"
    ) async throws -> Channel {
        try await stores.channels.import(
            ChannelImport(
                bundleID: .sample(bundleID), environment: .production, channelID: channelID, storagePolicy: policy,
                label: "by hand", eventKey: try eventKey.map { try .sample($0) },
                answer: APNsRecord(status: 200, reason: nil, requestID: nil)),
            by: .server, now: stores.now)
    }

    @Test func `an imported channel is active and found from then on`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let channel = try await take(stores, of: "com.example.goal")
            #expect(channel.state == .active)
            #expect(channel.bundleID == (try .sample()))
            #expect(channel.label == "by hand")
            #expect(try await problem { try await take(stores) } == .channelExists)
            #expect(try await problem { try await take(stores, "b", of: "com.example.none") } == .appNotFound)
        }
    }

    @Test func `an imported channel replaces the planned one of a waiting event and gets its messages`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.align()
            try await stores.accept(.update())
            try await take(stores, for: "match-1")
            try await stores.align()
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.sendOne().message.channelID == "console==")
        }
    }

    @Test func `an import for an event with a channel, or for one that is over or unknown, is refused`() async throws {
        try await withStores { stores in
            try await stores.open()
            #expect(try await problem { try await take(stores, for: "match-1") } == .channelExists)
            #expect(
                try await problem { try await take(stores, "x", .noMessageStored, for: "match-1") } == .invalidRequest)
            #expect(try await problem { try await take(stores, for: "other") } == .eventNotFound)
            try await stores.events.cancel(.sample(), now: stores.now)
            #expect(try await problem { try await take(stores, for: "match-1") } == .eventEnded)
            // None of the refused imports stored a channel.
            let channels = try await stores.channels.channels(
                of: .sample(), in: .production, where: ChannelFilter(channelID: "console=="), PageRequest())
            #expect(channels.items.isEmpty)
        }
    }

    @Test func `of two concurrent imports one succeeds`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let taken = await withTaskGroup(of: Bool.self) { group in
                for _ in 1...4 { group.addTask { (try? await take(stores)) != nil } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(taken == 1)
        }
    }
}
