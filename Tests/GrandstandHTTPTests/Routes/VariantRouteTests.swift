internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// Variants in requests and answers.
struct VariantRouteTests {
    private static let event = "/v1/events/derby"
    private static let broadcasts = event + "/broadcasts"
    private static let lookup = "/v1/lookup/com.example.Stadium/production"

    private static func put(_ audiences: String...) -> String {
        let all = audiences.map {
            #"{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"\#($0)}"#
        }
        return #"{"name": "x", "audiences": [\#(all.joined(separator: ","))]}"#
    }

    private static func update(_ byVariant: String) -> String {
        #"{"event": "update", "contentState": {}, "byVariant": \#(byVariant)}"#
    }

    static let refusals: [Refusal] = [
        .init("no alphabet", "PUT", event, put(#", "variant": "d e""#), pointers: ["/audiences/0/variant"]),
        .init("no text", "PUT", event, put(#", "variant": 1"#), pointers: ["/audiences/0/variant"]),
        .init(
            "too long", "PUT", event, put(#", "variant": "\#(String(repeating: "a", count: 33))""#),
            pointers: ["/audiences/0/variant"]),
        .init(
            "one twice", "PUT", event, put(#", "variant": "de""#, #", "variant": "de""#),
            pointers: ["/audiences/1/variant"], hint: "in variant de is listed twice"),
        .init(
            "one of tokens", "PUT", event, put(#", "variant": "de", "delivery": "tokens""#),
            pointers: ["/audiences/0/variant"]),
        .init("no priority", "PUT", event, put(#", "priority": 7"#), pointers: ["/audiences/0/priority"]),
        .init("a list", "POST", broadcasts, update("[]"), pointers: ["/byVariant"]),
        .init("no variant's name", "POST", broadcasts, update(#"{"d e": {}}"#), pointers: ["/byVariant/d e"]),
        .init(
            "a priority for one", "POST", broadcasts, update(#"{"de": {"priority": 5}}"#), slug: "unknown-field",
            pointers: ["/byVariant/de/priority"]),
        .init(
            "a content that is no object", "POST", broadcasts, update(#"{"de": {"contentState": 1}}"#),
            pointers: ["/byVariant/de/contentState"]),
        .init(
            "an alert without a text", "POST", broadcasts, update(#"{"de": {"alert": {}}}"#),
            pointers: ["/byVariant/de/alert"]),
        .init(
            "a name twice", "POST", broadcasts, update(#"{"de": {}, "d\u0065": {}}"#), status: 400,
            slug: "malformed-json"),
        .init("no variant in a lookup", "GET", lookup + "/derby?variant=d%20e", pointers: ["variant"]),
        .init("none in many", "POST", lookup + "?variant=", #"{"eventKeys": ["derby"]}"#, pointers: ["variant"]),
        .init(
            "one without an event", "POST", "/v1/apps/com.example.Stadium/production/channels/import",
            #"{"channelId": "abc=", "variant": "de"}"#, pointers: ["/variant"]),
    ]

    @Test(arguments: refusals)
    func `bad input is refused before any call`(refusal: Refusal) async throws {
        try await refusal.check()
    }

    @Test func `audiences are declared and shown with variant and priority`() async throws {
        var world = RouteWorld()
        world.events.save = { specification, _, _ in
            let event = Event(
                specification: specification, state: .scheduled,
                channels: specification.audiences.map { _ in Audience.ChannelStatus(state: .pending) },
                createdAt: RouteWorld.now, updatedAt: RouteWorld.now)
            return (event, true)
        }
        let answer = try await world(
            "PUT", Self.event, Array(Self.put(#", "variant": "de", "priority": 1"#, "").utf8), as: "gs_organise")
        let audiences = try #require(answer.json["audiences"] as? [[String: Any]])
        #expect(audiences.map { $0["variant"] as? String } == ["de", nil])
        #expect(audiences.map { $0["priority"] as? Int } == [1, nil])
        #expect(audiences[1].keys.contains("variant") == false)
    }

    @Test func `a lookup uses the variant of its query, for one event and for many`() async throws {
        var world = RouteWorld()
        world.lookups.read = { keys in
            let records = ["de", "fr"].map { name in
                LookupRecord(
                    topic: "com.example.stadium", environment: .production, storagePolicy: .noMessageStored,
                    channelID: name, variant: Variant(rawValue: name))
            }
            return Dictionary(uniqueKeysWithValues: keys.map { ($0, records) })
        }
        world.events.look = { names, _ in
            Dictionary(
                uniqueKeysWithValues: names.map { name in
                    (
                        name,
                        LookupEntry(
                            eventKey: name.key, state: .live, storagePolicy: .noMessageStored,
                            channelID: name.variant?.rawValue, startsAt: nil, endsAt: nil, variant: name.variant)
                    )
                })
        }
        for (query, channelID) in [("", "de"), ("?variant=de", "de"), ("?variant=fr&include=contentState", "fr")] {
            let answer = try await world("GET", Self.lookup + "/derby" + query, as: "gs_lookup")
            #expect(answer.json["channelId"] as? String == channelID, "\(answer.text)")
            if !query.contains("include") { #expect(answer.json["variants"] as? [String] == ["de", "fr"]) }
        }
        let unknown = try await world("GET", Self.lookup + "/derby?variant=it", as: "gs_lookup")
        #expect((unknown.status, unknown.slug) == (404, "variant-not-found"))
        #expect(unknown.detail.contains("in variant it; it has de, fr there"), "\(unknown.detail)")
        #expect(unknown.json["variants"] as? [String] == ["de", "fr"])
        #expect(unknown.headers[.cacheControl] == "public, max-age=5")
        let many = try await world(
            "POST", Self.lookup + "?variant=de", Array(#"{"eventKeys": ["derby", "cup"]}"#.utf8), as: "gs_lookup")
        let items = try #require(many.json["items"] as? [[String: Any]])
        #expect(items.map { $0["variant"] as? String } == ["de", "de"])
        let none = try await world(
            "POST", Self.lookup + "?variant=it", Array(#"{"eventKeys": ["derby"]}"#.utf8), as: "gs_lookup")
        #expect(none.text.hasSuffix(#""missing":[{"eventKey":"derby","reason":"variant-not-found"}]}"#), "\(none.text)")
    }
}
