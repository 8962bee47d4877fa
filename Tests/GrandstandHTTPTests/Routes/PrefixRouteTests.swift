internal import FoundationEssentials
internal import Grandstand
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// The rights of an API key that is limited to events whose keys begin with a prefix.
struct PrefixRouteTests {
    private static let declaration =
        #"{"name": "Final", "audiences": [{"bundleId": "com.example.Stadium", "environment": "production", "#
        + #""storagePolicy": "noMessageStored"}]}"#

    @Test func `a key with an event prefix may declare only events with this prefix`() async throws {
        var world = RouteWorld()
        let refused = try await world("PUT", "/v1/events/league.1", Array(Self.declaration.utf8), as: "gs_cup")
        #expect(refused.status == 403 && refused.detail.contains("event keys that begin with cup."))
        world.events.save = { specification, reach, _ in
            guard specification.key.rawValue == "cup.final", reach.eventKeyPrefix?.rawValue == "cup." else {
                throw Unasked()
            }
            return (Sample.event(), created: true)
        }
        let made = try await world("PUT", "/v1/events/cup.final", Array(Self.declaration.utf8), as: "gs_cup")
        #expect(made.status == 201, "\(made.text)")
    }

    @Test(arguments: [("GET", nil), ("PATCH", "{}")] as [(String, String?)])
    func `for a key with an event prefix, its app's other events do not exist`(method: String, body: String?)
        async throws
    {
        var world = RouteWorld()
        world.events.find = { _ in Sample.event() }
        let answer = try await world(method, "/v1/events/derby", body.map { Array($0.utf8) }, as: "gs_cup")
        #expect(answer.slug == "event-not-found", "\(answer.text)")
    }

    @Test(
        arguments: [
            ("PUT", "/v1/apps/com.example.Stadium/contents/MatchAttributes"),
            ("DELETE", "/v1/apps/com.example.Stadium/contents/MatchAttributes"),
            ("POST", "/v1/apps/com.example.Stadium/production/pushes"), ("POST", "/v1/webhooks"),
        ])
    func `a key with an event prefix may change nothing that concerns its whole app`(method: String, path: String)
        async throws
    {
        let hook = #"{"url": "https://hooks.example.com/x", "topics": ["broadcast.settled"]}"#
        let body = method == "DELETE" ? nil : Array((path.hasSuffix("webhooks") ? hook : "{}").utf8)
        let answer = try await RouteWorld()(method, path, body, as: "gs_cup")
        #expect(answer.slug == "forbidden", "\(answer.text)")
    }
}
