internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Update tokens of an app with several audiences in an event: each token belongs to one audience.
struct VariantCrowdTests {
    private static let goal = BroadcastRequest.update(
        #"{"n":1}"#, byVariant: ["de": (#"{"n":"eins"}"#, nil), "fr": (#"{"n":"un"}"#, nil)])

    private func audiences(_ names: String?...) throws -> [Audience] { try names.map { try .sample(variant: $0) } }

    private func text(_ shard: CrowdShard) -> String { String(decoding: shard.body, as: UTF8.self) }

    @Test func `each token gets the content of its own variant, also when it comes late`() async throws {
        try await withCrowds { world in
            try await world.stores.open(audiences: audiences("de", "fr"))
            let german = try await world.show("aa01", variant: "de")
            let french = try await world.show("aa02", variant: "fr")
            let lanes = try await world.stores.count("select count(*) as n from lanes where kind = 'crowd'")
            #expect(lanes == 2)
            let broadcast = try await world.stores.accept(Self.goal)
            #expect(broadcast.deliveries.count { $0.counts != nil } == 2)
            let shards = try await world.claim()
            #expect(shards.map { $0.members.map(\.activity) }.sorted { $0[0] < $1[0] } == [[german], [french]])
            for shard in shards {
                #expect(text(shard).contains(shard.members[0].activity == german ? #"{"n":"eins"}"# : #"{"n":"un"}"#))
                try await world.settle(shard)
            }
            try await world.show("aa03", variant: "fr")
            let late = try #require(try await world.claim().first)
            #expect(text(late).contains(#"{"n":"un"}"#))
            try await world.settle(late)
        }
    }

    @Test func `the answer has each crowd's own number of tokens`() async throws {
        try await withCrowds { world in
            try await world.stores.open(audiences: audiences("de", "fr"))
            try await world.show("aa01", variant: "de")
            for token in ["aa02", "aa03", "aa04"] { try await world.show(token, variant: "fr") }
            let crowds = try await world.stores.accept(Self.goal).deliveries.filter { $0.counts != nil }
            let totals = Dictionary(uniqueKeysWithValues: crowds.map { ($0.variant?.rawValue, $0.counts?.total) })
            #expect(totals == ["de": 1, "fr": 3])
        }
    }

    @Test func `tokens of a removed variant get the content of the audience that replaces it`() async throws {
        try await withCrowds { world in
            try await world.stores.open(audiences: audiences("de", "fr"))
            try await world.show("aa01", variant: "de")
            try await world.show("aa02", variant: "fr")
            try await world.stores.accept(Self.goal)
            for shard in try await world.claim() { try await world.settle(shard) }

            try await world.stores.put(.sample(audiences: audiences("fr")))
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(.update(#"{"n":2}"#, byVariant: ["fr": (#"{"n":"deux"}"#, nil)]))
            let shards = try await world.claim()
            #expect(shards.flatMap(\.members).count == 2)
            for shard in shards {
                #expect(text(shard).contains(#"{"n":"deux"}"#))
                try await world.settle(shard)
            }
            // The audience `de` returns, and takes its own tokens again.
            try await world.stores.put(.sample(audiences: audiences("fr", "de")))
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(Self.goal)
            #expect(
                Set(try await world.claim().map { text($0).contains("eins") ? "de" : "fr" }) == ["de", "fr"])
        }
    }

    @Test func `only one crowd is made, even with several audiences`() async throws {
        try await withCrowds { world in
            try await world.stores.open(audiences: audiences("de", "fr", nil))
            try await world.show("aa01")
            let lanes = try await world.stores.count("select count(*) as n from lanes where kind <> 'channel'")
            #expect(lanes == 1)
            #expect(try await world.stores.count("select count(*) as n from lanes where variant = ''") == 2)
        }
    }
}
