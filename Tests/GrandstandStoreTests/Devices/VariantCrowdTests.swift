internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Tokens and starts of an app that has several audiences in an event: both are the app's, and go by one of them.
struct VariantCrowdTests {
    private func audiences(_ names: String?...) throws -> [Audience] { try names.map { try .sample(variant: $0) } }

    @Test func `a crowd is its app's, and gets the content of the audience that stands for it`() async throws {
        try await withCrowds { world in
            try await world.stores.open(audiences: audiences("de", "fr"))
            try await world.show("aa01")
            let request = BroadcastRequest.update(
                #"{"n":1}"#, byVariant: ["de": (#"{"n":"eins"}"#, nil), "fr": (#"{"n":"un"}"#, nil)])
            let first = try await world.stores.accept(request)
            #expect(first.deliveries.map { $0.counts == nil } == [true, false, true])
            let shard = try #require(try await world.claim().first)
            #expect(String(decoding: shard.body, as: UTF8.self).contains(#"{"n":"eins"}"#))
            try await world.settle(shard)
            #expect(try await world.tokens(of: first).variant?.rawValue == "de")

            // Another stands for it now; nobody is sent the same again for that.
            try await world.stores.put(.sample(audiences: audiences("fr", "de")))
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(request)
            let second = try #require(try await world.claim().first)
            #expect(String(decoding: second.body, as: UTF8.self).contains(#"{"n":"un"}"#))
            try await world.settle(second)
            try await world.show("aa02")
            let late = try #require(try await world.claim().first)
            #expect(String(decoding: late.body, as: UTF8.self).contains(#"{"n":"un"}"#))
            try await world.settle(late)

            // It ends with the last audience of its app, not with the first.
            try await world.stores.put(.sample(audiences: audiences("de")))
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(.update(#"{"n":1}"#, byVariant: ["de": (#"{"n":"eins"}"#, nil)]))
            let third = try #require(try await world.claim().first)
            #expect(third.members.count == 2)
            #expect(String(decoding: third.body, as: UTF8.self).contains(#"{"n":"eins"}"#))
        }
    }

    @Test func `one crowd is made, though there are several audiences beside it`() async throws {
        try await withCrowds { world in
            try await world.stores.open(audiences: audiences("de", "fr", nil))
            try await world.show("aa01")
            let lanes = try await world.stores.count("select count(*) as n from lanes where kind <> 'channel'")
            #expect(lanes == 1)
            #expect(try await world.stores.count("select count(*) as n from lanes where variant = ''") == 2)
        }
    }

    @Test(arguments: [nil, "fr"]) func `an installation is started once, on the audience that is chosen`(
        _ chosen: String?
    ) async throws {
        try await withStores { stores in
            let world = StartWorld(stores)
            try await world.declare(
                start: StartWorld.start(
                    at: world.now, contentState: nil, audiences: try chosen.map { [try .sample(variant: $0)] }),
                audiences: audiences("de", "fr"))
            try await stores.provision()
            try await world.follow()
            try await stores.accept(.update(#"{"n":1}"#, byVariant: ["fr": (#"{"n":"un"}"#, nil)]))
            let shards = try await world.starts.claim(
                ShardClaim(
                    environment: .production, replica: stores.replica, limit: 10, shardSize: 100, at: stores.now,
                    leasedUntil: stores.now.addingTimeInterval(10)))
            #expect(shards.count == 1)
            let shard = try #require(shards.first)
            let expected = try await stores.events.lookup(
                topic: "com.example.goal", in: .production, .sample(), variant: chosen.flatMap(Variant.init),
                contentState: true, now: stores.now)
            #expect(shard.members.count == 1 && shard.channelID == expected?.channelID)
            #expect(shard.payload.contentState == expected?.contentState)
            let reports = try #require(
                try await world.starts.report(of: .sample(), within: .all, .asItIs, now: stores.now))
            #expect(reports.map { $0.audience.variant?.rawValue } == [chosen ?? "de"])
            #expect(reports.first?.report.counts.followers == 1)
        }
    }
}
