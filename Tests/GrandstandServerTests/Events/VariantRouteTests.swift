internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// Variants in requests and answers.
struct VariantRouteTests {
    private static let lookup = "/v1/lookup/com.example.Stadium/production"

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
