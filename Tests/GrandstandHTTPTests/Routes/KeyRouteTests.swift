internal import FoundationEssentials
internal import Grandstand
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

struct KeyRouteTests {
    @Test(arguments: [
        (#"{"scopes": ["lookup"]}"#, "/name"), (#"{"name": "x"}"#, "/scopes"),
        (#"{"name": "x", "scopes": []}"#, "/scopes"), (#"{"name": "x", "scopes": ["root"]}"#, "/scopes"),
        (#"{"name": "x", "scopes": ["lookup"], "expiresAt": "2020-01-01T00:00:00Z"}"#, "/expiresAt"),
        (#"{"name": "x", "scopes": ["lookup"], "bundleId": "!"}"#, "/bundleId"),
        (#"{"name": "x", "scopes": ["lookup"], "secret": "mine"}"#, "/secret"),
        (#"{"name": "x", "scopes": ["device"]}"#, "/bundleId"),
        (#"{"name": "x", "scopes": ["admin", "device"]}"#, "/bundleId"),
        (#"{"name": "x", "scopes": ["device"], "bundleIds": ["com.example.A", "com.example.B"]}"#, "/bundleId"),
        (#"{"name": "x", "scopes": ["lookup"], "bundleIds": []}"#, "/bundleIds"),
        (#"{"name": "x", "scopes": ["organise"], "eventKeyPrefix": "cup/"}"#, "/eventKeyPrefix"),
        (#"{"name": "x", "scopes": ["organise", "lookup"], "eventKeyPrefix": "cup."}"#, "/eventKeyPrefix"),
        (#"{"name": "x", "scopes": ["lookup"], "bundleIds": ["com.example.A", "!"]}"#, "/bundleIds/1"),
        (#"{"name": "x", "scopes": ["lookup"], "bundleIds": ["com.example.A", "com.Example.a"]}"#, "/bundleIds/1"),
        (#"{"name": "x", "scopes": ["lookup"], "bundleId": "a.b", "bundleIds": ["a.b"]}"#, "/bundleIds"),
    ])
    func `each fault of a key draft points to its member`(body: String, pointer: String) async throws {
        let answer = try await RouteWorld()("POST", "/v1/keys", Array(body.utf8))
        #expect(answer.status == 422)
        #expect(answer.pointers == [pointer])
    }

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
}
