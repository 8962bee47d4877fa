internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// Variants in requests and answers.
struct VariantRouteTests {
    private static let event = "/v1/events/derby"
    private static let lookup = "/v1/lookup/com.example.Stadium/production"

    private static func put(_ audiences: String...) -> String {
        let all = audiences.map {
            #"{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"\#($0)}"#
        }
        return #"{"name": "x", "audiences": [\#(all.joined(separator: ","))]}"#
    }

    @Test func `audiences are declared and shown with variant, priority and delivery`() async throws {
        var world = RouteWorld()
        world.events.save = { specification, _, _ in
            let event = Event(
                specification: specification, state: .scheduled,
                channels: specification.audiences.map { _ in Audience.ChannelStatus(state: .pending) },
                createdAt: RouteWorld.now, updatedAt: RouteWorld.now)
            return (event, true)
        }
        let answer = try await world(
            "PUT", Self.event, Array(Self.put(#", "variant": "de", "priority": 1"#, #", "delivery": "tokens""#).utf8),
            as: "gs_organise")
        let audiences = try #require(answer.json["audiences"] as? [[String: Any]])
        #expect(audiences.map { $0["variant"] as? String } == ["de", nil])
        #expect(audiences.map { $0["priority"] as? Int } == [1, nil])
        #expect(audiences.map { $0["delivery"] as? String } == ["channel", "tokens"])
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
        for (query, channelID) in [("", "de"), ("?variant=de", "de"), ("?variant=fr", "fr")] {
            let answer = try await world("GET", Self.lookup + "/derby" + query, as: "gs_lookup")
            #expect(answer.json["channelId"] as? String == channelID, "\(answer.text)")
            #expect(answer.json["variants"] as? [String] == ["de", "fr"])
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
