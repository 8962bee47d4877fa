internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// A client that changes something gets the new state from the same server at once, and a revoked or replaced key is
/// refused at once.
@Suite(.timeLimit(.minutes(5)))
struct ClientKeyTests {
    private static let batch = "/v1/lookup/\(Stage.bundleID)/development"

    @Test func `after a change is answered, a lookup at the same server never returns the previous state`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putLiveEvent("event-0")
            for number in 1..<20 { try await stage.putEvent("event-\(number)") }
            for number in 0..<20 {
                let key = "event-\(number)"
                try await stage.activeChannels(of: key)
                let lookup = "\(Self.batch)/\(key)"
                #expect(try await stage.api("GET", lookup).json["state"]?.string == "scheduled")
                _ = try await stage.broadcast(#"{"event": "update", "contentState": {"n": \#(number)}}"#, to: key)
                let live = try await stage.api("GET", lookup)
                #expect(live.json["state"]?.string == "live", "\(key)")
                let content = try await stage.api("GET", "\(lookup)?include=contentState")
                #expect(content.json["contentState"]?["n"]?.int == number, "\(key)")
                _ = try await stage.broadcast(#"{"event": "end", "contentState": {}}"#, to: key)
                #expect(try await stage.api("GET", lookup).status == 410, "\(key)")
                #expect(try await stage.api("GET", "\(lookup)?include=contentState").status == 410, "\(key)")
            }
        }
    }

    @Test func `a key that was revoked or replaced over the API is refused by the same server at once`() async throws {
        try await Stage.with { stage in
            for path in ["", "/rotations"] {
                let made = try await stage.api("POST", "/v1/keys", #"{"name": "k", "scopes": ["organise"]}"#)
                let id = try #require(made.json["id"]?.string)
                let caller = HTTPCaller(url: stage.url, secret: made.json["secret"]?.string)
                #expect(try await caller("GET", "/v1/events").status == 200)
                let ended =
                    path.isEmpty
                    ? try await stage.api("DELETE", "/v1/keys/\(id)")
                    : try await stage.api(
                        "POST", "/v1/keys/\(id)\(path)", #"{"overlapSeconds": 0}"#, headers: ["Idempotency-Key": id])
                #expect([201, 204].contains(ended.status))
                #expect(try await caller("GET", "/v1/events").status == 401)
            }
        }
    }
}
