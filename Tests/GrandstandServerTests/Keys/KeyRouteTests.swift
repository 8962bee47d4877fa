internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

@Suite(.database)
struct KeyRouteTests {
    @Test func `a key makes no key that reaches more, and only a key for all apps sets a prefix`() async throws {
        let world = RouteWorld()
        for app in [Sample.stadium, Sample.other] { _ = try await world.rows.apps.put(Sample.app(app), by: .server) }
        let pair =
            #"{"name": "x", "scopes": ["lookup"], "bundleIds": ["com.example.Stadium", "com.example.Other"]}"#
        for draft in [pair, #"{"name": "x", "scopes": ["lookup"]}"#] {
            #expect(try await world("POST", "/v1/keys", draft, as: "gs_stadium_admin").slug == "forbidden")
        }
        let made = try await world("POST", "/v1/keys", pair, as: "gs_pair_admin")
        #expect(made.status == 201)
        #expect(made.json["bundleIds"] as? [String] == ["com.example.Other", "com.example.Stadium"])
        let league =
            #"{"name": "x", "scopes": ["organise"], "bundleId": "com.example.Stadium", "eventKeyPrefix": "league."}"#
        let refused = try await world("POST", "/v1/keys", league, as: "gs_pair_admin")
        #expect(refused.status == 403 && refused.detail.contains("only a key for all apps"))
        let prefixed = try await world("POST", "/v1/keys", league)
        #expect(prefixed.status == 201 && prefixed.json["eventKeyPrefix"] as? String == "league.")
    }

    // MARK: Keys limited to events whose keys begin with a prefix

    @Test(
        arguments: [
            ("PUT", "/v1/apps/com.example.Stadium/contents/MatchAttributes"),
            ("DELETE", "/v1/apps/com.example.Stadium/contents/MatchAttributes"),
            ("POST", "/v1/webhooks"),
        ])
    func `a key with an event prefix may change nothing that concerns its whole app`(method: String, path: String)
        async throws
    {
        let hook = #"{"url": "https://hooks.example.com/x", "topics": ["broadcast.settled"]}"#
        let body = method == "DELETE" ? nil : path.hasSuffix("webhooks") ? hook : "{}"
        let answer = try await RouteWorld()(method, path, body, as: "gs_cup")
        #expect(answer.slug == "forbidden", "\(answer.text)")
    }
}
