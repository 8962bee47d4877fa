internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// Which resources a key reaches, and which need no key. GrandstandHTTPTests test the scopes.
@Suite(.timeLimit(.minutes(5)))
struct AccessTests {
    @Test func `a key for one app has no access to another app`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            try await stage.putApp("com.example.Other")
            try await stage.putEvent(
                "both",
                [
                    Stage.audience(.development, .noMessageStored),
                    Stage.audience(.development, .noMessageStored, of: "com.example.Other"),
                ])
            let all: Set<APIKey.Scope> = [.lookup, .organise, .operate]
            let own = try await stage.caller(all, app: "com.example.Stadium")
            let other = try await stage.caller(all, app: "com.example.Other")

            let id = try await stage.broadcast(#"{"event": "update", "contentState": {}}"#)
            let paths = [
                "/v1/apps/com.example.Stadium", "/v1/apps/com.example.Stadium/development/channels", "/v1/events/derby",
                "/v1/events/derby/broadcasts", "/v1/broadcasts/\(id)",
                "/v1/lookup/com.example.Stadium/development/derby",
            ]
            for path in paths {
                #expect(try await own("GET", path).status == 200, "\(path)")
                let answer = try await other("GET", path)
                // The answer is 403 if the path names an app: the caller named the app itself, so 403 tells the caller
                // nothing new. For every other resource the answer is 404, which does not tell whether the resource
                // exists.
                let isOfApp = path.contains("com.example.Stadium")
                #expect(answer.status == (isOfApp ? 403 : 404), "\(path)")
                #expect((answer.slug == "forbidden") == isOfApp)
            }
            let update = #"{"event": "update", "contentState": {"n": 1}}"#
            #expect(try await other("POST", "/v1/events/derby/broadcasts", update).status == 404)
            #expect(try await other("DELETE", "/v1/events/derby").status == 404)
            #expect(try await other("DELETE", "/v1/broadcasts/\(id)").status == 404)
            // A key for one app does not reach an event that also has another app.
            #expect(try await own("POST", "/v1/events/both/broadcasts", update).status == 404)
            let takeover =
                #"{"name": "x", "audiences": [\#(Stage.audience(.production, .noMessageStored, of: "com.example.Other"))]}"#
            #expect(try await other("PUT", "/v1/events/derby", takeover).status == 403)

            #expect(
                try await other("GET", "/v1/apps").json["items"]?.items.compactMap { $0["bundleId"]?.string } == [
                    "com.example.Other"
                ])
            #expect(
                try await other("GET", "/v1/quotas").json["items"]?.items.allSatisfy {
                    $0["bundleId"]?.string == "com.example.Other"
                } == true)
            #expect(try await stage.api("GET", "/v1/events/derby/broadcasts").json["items"]?.items.count == 1)
        }
    }

    @Test func `a request with a revoked key is refused with 401`() async throws {
        try await Stage.with { stage in
            let (key, secret) = try await stage.server.keys.create(name: "short", scopes: [.admin], bundleID: nil)
            let caller = HTTPCaller(url: stage.url, secret: secret)
            #expect(try await caller("GET", "/v1/apps").status == 200)
            #expect(try await stage.server.keys.revoke(key.id, now: Date()))
            let answer = try await caller("GET", "/v1/apps")
            #expect(answer.status == 401)
            #expect(!answer.text.contains(secret))
        }
    }

    @Test func `probes need no key`() async throws {
        try await Stage.with { stage in
            let caller = HTTPCaller(url: stage.url, secret: nil)
            #expect(try await caller("GET", "/healthz").status == 200)
            let ready = try await caller("GET", "/readyz")
            #expect(ready.status == 200)
            #expect(ready.json["status"]?.string == "ready")
            #expect(ready.json["database"]?.string == "ok")
        }
    }
}
