internal import FoundationEssentials
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

struct KeyRouteTests {

    @Test func `only a key that reaches all apps may set a prefix of event keys`() async throws {
        var world = RouteWorld()
        world.ledger.create = { draft in
            guard draft.reach == AppReach(of: [Sample.stadium], eventKeyPrefix: EventKey(rawValue: "cup.")) else {
                throw Unasked()
            }
            return IssuedKey(
                key: APIKey(
                    id: Sample.id, name: draft.name, scopes: draft.scopes, reach: draft.reach, prefix: "gs_",
                    createdAt: RouteWorld.now, revokedAt: nil), secret: "gs_new")
        }
        let body = Array(
            #"{"name": "x", "scopes": ["organise"], "bundleId": "com.example.Stadium", "eventKeyPrefix": "cup."}"#.utf8)
        let made = try await world("POST", "/v1/keys", body)
        #expect(made.status == 201 && made.json["eventKeyPrefix"] as? String == "cup.")
        let refused = try await world("POST", "/v1/keys", body, as: "gs_pair_admin")
        #expect(refused.status == 403 && refused.detail.contains("only a key for all apps"))
    }

    @Test func `an admin of one app cannot manage a key of all apps`() async throws {
        var world = RouteWorld()
        let key = try #require(RouteWorld.keys["gs_lookup"])
        world.ledger.find = { _ in KeyListing(key: key, lastUsedAt: nil) }
        let path = "/v1/keys/\(key.id.uuidString)"
        let shown = try await world("GET", path)
        #expect(shown.json["name"] as? String == "test")
        #expect(shown.json["state"] as? String == "active")
        #expect(shown.json["secret"] == nil)
        for (method, path) in [("GET", path), ("DELETE", path), ("POST", path + "/rotations")] {
            #expect(try await world(method, path, as: "gs_stadium_admin").slug == "key-not-found", "\(method)")
        }
        let pair = Array(
            #"{"name": "x", "scopes": ["lookup"], "bundleIds": ["com.example.Stadium", "com.example.Other"]}"#.utf8)
        #expect(try await world("POST", "/v1/keys", pair, as: "gs_stadium_admin").slug == "forbidden")
        world.ledger.create = { draft in
            let reach = AppReach.only([Sample.stadium, Sample.other])
            guard draft.reach == reach, let pair = RouteWorld.keys["gs_pair_admin"] else { throw Unasked() }
            return IssuedKey(key: pair, secret: "gs_new")
        }
        let made = try await world("POST", "/v1/keys", pair, as: "gs_pair_admin")
        #expect(made.status == 201)
        #expect(made.json["bundleIds"] as? [String] == ["com.example.Other", "com.example.Stadium"])
        let draft = Array(#"{"name": "x", "scopes": ["lookup"]}"#.utf8)
        #expect(try await world("POST", "/v1/keys", draft, as: "gs_stadium_admin").slug == "forbidden")
    }

    // MARK: Keys limited to events whose keys begin with a prefix

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
            ("POST", "/v1/webhooks"),
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
