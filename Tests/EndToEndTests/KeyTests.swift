internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Keys over the API: created, listed, used, rotated, revoked.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct KeyTests {
    @Test func `a key is created, used, rotated and revoked over the API`() async throws {
        let stage = try await Stage.own()
        let made = try await stage.api("POST", "/v1/keys", #"{"name": "organiser", "scopes": ["organise"]}"#)
        #expect(made.status == 201)
        let id = try #require(made.json["id"]?.string)
        let secret = try #require(made.json["secret"]?.string)
        #expect(secret.hasPrefix(try #require(made.json["prefix"]?.string)))
        let caller = HTTPCaller(url: stage.url, secret: secret)
        #expect(try await caller("GET", "/v1/events").status == 200)

        let shown = try await stage.api("GET", "/v1/keys/\(id)")
        #expect(shown.json["secret"] == nil)
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
    }
}
