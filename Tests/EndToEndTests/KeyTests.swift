internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// Keys over the API: created, listed, used, rotated, revoked. A key for one app manages only that app's keys.
@Suite(.timeLimit(.minutes(5)))
struct KeyTests {
    @Test func `a key is created, used, rotated and revoked over the API`() async throws {
        try await Stage.with { stage in
            let made = try await stage.api("POST", "/v1/keys", #"{"name": "organiser", "scopes": ["organise"]}"#)
            #expect(made.status == 201)
            let id = try #require(made.json["id"]?.string)
            let secret = try #require(made.json["secret"]?.string)
            #expect(secret.hasPrefix(try #require(made.json["prefix"]?.string)))
            let caller = HTTPCaller(url: stage.url, secret: secret)
            #expect(try await caller("GET", "/v1/events").status == 200)

            let shown = try await stage.api("GET", "/v1/keys/\(id)")
            #expect(shown.json["secret"] == nil)
            #expect(shown.json["state"]?.string == "active")
            #expect(!(try await stage.api("GET", "/v1/keys")).text.contains(secret))
            // The last use is stored every few seconds, and when the server stops.
            _ = try await until("the last use is shown") {
                try await stage.api("GET", "/v1/keys/\(id)").json["lastUsedAt"]?.string
            }

            let rotated = try await stage.api("POST", "/v1/keys/\(id)/rotations", #"{"overlapSeconds": 600}"#)
            #expect(rotated.status == 201)
            let successor = HTTPCaller(url: stage.url, secret: rotated.json["secret"]?.string)
            #expect(try await successor("GET", "/v1/events").status == 200)
            #expect(try await caller("GET", "/v1/events").status == 200)
            #expect(try await stage.api("POST", "/v1/keys/\(id)/rotations").slug == "key-not-found")
            #expect(
                try await stage.api("GET", "/v1/keys/\(id)").json["replacedBy"]?.string == rotated.json["id"]?.string)

            #expect(try await stage.api("DELETE", "/v1/keys/\(id)").status == 204)
            #expect(try await stage.api("DELETE", "/v1/keys/\(id)").status == 204)
            _ = try await until("the old key is no key") {
                try await caller("GET", "/v1/events").status == 401 ? true : nil
            }
            #expect(try await successor("GET", "/v1/events").status == 200)
            #expect(try await stage.audited("key.rotated").count == 1)
        }
    }

    @Test func `a rotation without overlap ends the old key`() async throws {
        try await Stage.with { stage in
            let (key, secret) = try await stage.server.keys.create(
                name: "short", scopes: [.organise], bundleID: nil, by: .commandLine)
            let answer = try await stage.api(
                "POST", "/v1/keys/\(key.id.uuidString)/rotations", #"{"overlapSeconds": 0}"#)
            #expect(answer.status == 201)
            let caller = HTTPCaller(url: stage.url, secret: secret)
            _ = try await until("the old key is no key") {
                try await caller("GET", "/v1/events").status == 401 ? true : nil
            }
        }
    }

    @Test func `an admin of one app makes and sees that app's keys only`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            try await stage.putApp("com.example.Other")
            let admin = try await stage.caller([.admin], app: "com.example.Stadium")
            let own = try await admin(
                "POST", "/v1/keys", #"{"name": "own", "scopes": ["lookup"], "bundleId": "com.example.Stadium"}"#)
            #expect(own.status == 201)
            for body in [
                #"{"name": "all", "scopes": ["lookup"]}"#,
                #"{"name": "other", "scopes": ["lookup"], "bundleId": "com.example.Other"}"#,
            ] { #expect(try await admin("POST", "/v1/keys", body).status == 403) }
            let names = try await admin("GET", "/v1/keys").json["items"]?.items.compactMap { $0["name"]?.string }
            #expect(names == ["own", "scoped"])
            let foreign = try await stage.api("GET", "/v1/keys").json["items"]?.items.first { $0["bundleId"] == nil }
            let id = try #require(foreign?["id"]?.string)
            #expect(try await admin("GET", "/v1/keys/\(id)").status == 404)
            #expect(try await admin("DELETE", "/v1/keys/\(id)").status == 404)
            #expect(try await admin("POST", "/v1/keys/\(id)/rotations").status == 404)
        }
    }
}
