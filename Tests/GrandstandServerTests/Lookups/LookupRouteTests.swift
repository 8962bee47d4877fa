internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// `/v1/lookup` with an empty cache, so that the database is read. LookupHandlerTests test the cache.
struct LookupRouteTests {
    private static let base = "/v1/lookup/com.example.Goal/production"
    private static let path = base + "/derby"

    /// Events by their keys: `derby` has a channel and a content, `friendly` has no channel yet, `final` is over.
    private func withEvents(_ body: (RouteWorld, StoreWorld) async throws -> Void) async throws {
        try await withDatabase { test in
            let world = DatabaseTrait.$current.withValue(test) { RouteWorld() }
            let stores = world.rows
            try await stores.apps.put(.sample(at: stores.now))
            for key in ["derby", "final"] {
                try await stores.open(key, audiences: [.sample("com.example.Goal", .production, .noMessageStored)])
            }
            try await stores.accept(.update(#"{"n": 1}"#), for: "derby")
            try await stores.accept(.update(#"{"n": 3}"#), for: "final")
            try await stores.accept(.end(), for: "final")
            try await stores.put(.sample(), as: "friendly")
            try await body(world, stores)
        }
    }

    /// The body of the lookup of `derby`.
    private func shape(_ stores: StoreWorld) async throws -> String {
        let channelID = try #require(try await stores.channel(of: "derby").channelID)
        return #"{"eventKey":"derby","channelId":"\#(channelID)","storagePolicy":"noMessageStored","state":"live","#
            + #""startsAt":null,"endsAt":null}"#
    }

    @Test func `a channel is found with its tag, and a request with that tag gets no body`() async throws {
        try await withEvents { world, stores in
            let shape = try await shape(stores)
            for path in [Self.path, Self.path.replacingOccurrences(of: "Goal", with: "goal")] {
                let found = try await world("GET", path, as: "gs_lookup")
                #expect(found.status == 200 && found.text == shape)
                #expect(found.headers[.cacheControl] == "public, max-age=10")
                let tag = try #require(found.headers[.eTag])
                let known = try await world("GET", path, headers: ["If-None-Match": tag], as: "gs_lookup")
                #expect(known.status == 304 && known.body.isEmpty && known.headers[.eTag] == tag)
            }
            let full = try await world("GET", Self.path + "?include=contentState", as: "gs_lookup")
            let timestamp = try #require(try await stores.lookup("derby")?.timestamp)
            #expect(full.text == shape.dropLast() + #","contentState":{"n": 1},"timestamp":\#(timestamp)}"#)
        }
    }

    @Test func `an event that is over has its last content`() async throws {
        try await withEvents { world, stores in
            let path = Self.base + "/final?include=contentState"
            let answer = try await world("GET", path, as: "gs_lookup")
            #expect(answer.status == 410 && answer.slug == "event-ended")
            let content = try #require(try await stores.lookup("final")?.contentState?.description)
            #expect(answer.text.contains(#","contentState":\#(content),"timestamp":"#), "\(answer.text)")
            #expect(try await world("GET", Self.base + "/final", as: "gs_lookup").json["contentState"] == nil)
        }
    }

    /// Anybody may have a key for lookups. So the server does not store, or even read, the `Idempotency-Key` that they
    /// send.
    @Test func `a batch has an answer for each event, with the reason for missing ones, and is not idempotent`()
        async throws
    {
        let body = #"{"eventKeys": ["cup", "derby", "friendly", "final", "no key"]}"#
        try await withEvents { world, stores in
            for name in ["k", String(repeating: "x", count: 300)] {
                let answer = try await world(
                    "POST", Self.base, body, headers: ["Idempotency-Key": name], as: "gs_lookup")
                #expect(answer.status == 200)
                #expect(answer.headers[.idempotentReplayed] == nil)
                #expect(
                    answer.text
                        == #"{"items":[\#(try await shape(stores))],"missing":["#
                        + #"{"eventKey":"cup","reason":"event-not-found"},"#
                        + #"{"eventKey":"friendly","reason":"channel-pending"},"#
                        + #"{"eventKey":"final","reason":"event-ended"},"#
                        + #"{"eventKey":"no key","reason":"event-not-found"}]}"#)
            }
        }
    }

    @Test(.database) func `a lookup uses the variant of its query, for one event and for many`() async throws {
        let world = RouteWorld()
        for key in ["derby", "cup"] {
            try await world.rows.open(key, audiences: ["de", "fr"].map { try .sample(variant: $0) })
        }
        let answer = try await world("GET", Self.path + "?variant=fr", as: "gs_lookup")
        #expect(answer.json["variant"] as? String == "fr", "\(answer.text)")
        let unknown = try await world("GET", Self.path + "?variant=it", as: "gs_lookup")
        #expect((unknown.status, unknown.slug) == (404, "variant-not-found"))
        #expect(unknown.json["variants"] as? [String] == ["de", "fr"])
        #expect(unknown.headers[.cacheControl] == "public, max-age=5")
        let many = try await world(
            "POST", Self.base + "?variant=de", #"{"eventKeys": ["derby", "cup"]}"#, as: "gs_lookup")
        #expect(many.items.map { $0["variant"] as? String } == ["de", "de"])
    }
}
