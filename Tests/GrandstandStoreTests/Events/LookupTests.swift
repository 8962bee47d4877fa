internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct LookupTests {
    private func lookup(
        _ stores: Stores, topic: String = "com.example.goal", _ environment: APNsEnvironment = .production,
        _ key: String = "match-1", contentState: Bool = false
    ) async throws -> LookupEntry? {
        try await stores.events.lookup(
            topic: topic, in: environment, .sample(key), contentState: contentState, now: stores.now)
    }

    @Test func `a lookup names the channel while it can be followed`() async throws {
        try await withStores { stores in
            let starts = stores.now.addingTimeInterval(60)
            let ends = stores.now.addingTimeInterval(120)
            try await stores.put(.sample(startsAt: starts, endsAt: ends))
            let pending = try #require(try await lookup(stores))
            #expect(
                pending
                    == LookupEntry(
                        eventKey: try .sample(), state: .scheduled, storagePolicy: .mostRecentMessageStored,
                        channelID: nil, startsAt: starts, endsAt: ends))
            try await stores.provision()
            let channel = try await stores.channel()
            #expect(try await lookup(stores)?.channelID == channel.channelID)
            try await stores.forceDeletion(of: channel)
            #expect(try await lookup(stores)?.channelID == nil)
            stores.clock.advance(by: 1)
            try await stores.provision()
            #expect(try await lookup(stores)?.channelID == (try await stores.channel()).channelID)
            try await stores.accept(.end())
            #expect(try await lookup(stores)?.state == .ended)
        }
    }

    @Test func `a channel that Apple lost is not named, but its replacement is`() async throws {
        try await withStores { stores in
            try await stores.open()
            stores.clock.advance(by: 1)
            try await stores.lose(try await stores.channel())
            #expect(try await lookup(stores)?.channelID == nil)
            try await stores.provision()
            #expect(try await lookup(stores)?.channelID == (try await stores.channel()).channelID)
        }
    }

    @Test func `the timestamp of the newest content is the one that phones get`() async throws {
        try await withStores { stores in
            try await stores.open()
            let first = try await stores.accept(.update(#"{"n": 1}"#))
            // The message is sent 30 seconds after its acceptance.
            stores.clock.advance(by: 30)
            let sent = try await stores.sendOne()
            #expect(try await lookup(stores, contentState: true)?.timestamp == sent.timestamp)
            #expect(try await stores.delivery(of: first).timestamp == sent.timestamp)
            // This message is accepted in the same second in which the first one was sent. Until it is sent, lookups
            // show the lowest timestamp that it can get.
            try await stores.accept(.update(#"{"n": 2}"#))
            #expect(try await lookup(stores, contentState: true)?.timestamp == (try sent.timestamp + 1))
            #expect(try await stores.sendOne().timestamp == (try sent.timestamp + 1))
            #expect(try await lookup(stores, contentState: true)?.timestamp == (try sent.timestamp + 1))
        }
    }

    @Test func `on request a lookup has the newest accepted content with its lowest possible timestamp`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            #expect(try await lookup(stores, contentState: true)?.contentState == nil)
            #expect(try await lookup(stores, contentState: true)?.timestamp == nil)
            try await stores.accept(.update(#"{"n": 1}"#))
            stores.clock.advance(by: 7.5)
            try await stores.accept(.update(#"{"n": 2}"#))
            let entry = try #require(try await lookup(stores, contentState: true))
            #expect(entry.contentState == Array(#"{"n": 2}"#.utf8))
            #expect(entry.timestamp == 1_700_000_007)
            #expect(try await lookup(stores)?.contentState == nil)
        }
    }

    @Test func `an audience that got its end has only its last content, and the other continues`()
        async throws
    {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            try await stores.accept(.update())
            try await stores.accept(.end(audiences: [audiences[0].id]))
            for contentState in [false, true] {
                let (ended, live) = (
                    try await lookup(stores, topic: "com.example.a", contentState: contentState),
                    try await lookup(stores, topic: "com.example.b", contentState: contentState)
                )
                guard case .over(let last) = ended.map({ LookupAnswer($0) }) else {
                    Issue.record("\(contentState)")
                    continue
                }
                #expect((last != nil) == contentState)
                #expect(live?.state == .live)
            }
        }
    }

    @Test func `another environment, app or event is not found`() async throws {
        try await withStores { stores in
            try await stores.open()
            let misses = [
                try await lookup(stores, .development), try await lookup(stores, topic: "com.example.other"),
                try await lookup(stores, .production, "match-2"), try await lookup(stores, topic: "com.example.Goal"),
            ]
            #expect(misses == [nil, nil, nil, nil])
        }
    }
}
