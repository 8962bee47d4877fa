internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Lookups, which are the hot path.
@Suite(.timeLimit(.minutes(20)))
struct LookupTests {
    @Test func `another replica learns of a change, and of a revoked key`() async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { one in
                try await Stage.serve(environment, simulator: simulator) { two in
                    try await one.putLiveEvent()
                    let (key, secret) = try await one.server.keys.create(
                        name: "phone", scopes: [.lookup], bundleID: nil)
                    let phone = HTTPCaller(url: two.url, secret: secret)
                    let path = "/v1/lookup/\(Stage.bundleID)/development/derby"
                    try await until("the other replica knows the event") {
                        try await phone("GET", path).status == 200 ? () : nil
                    }
                    _ = try await one.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                    try await until("it is live there too") {
                        try await phone("GET", path).json["state"]?.string == "live" ? () : nil
                    }
                    #expect(try await one.server.keys.revoke(key.id, now: Date()))
                    try await until("the key is refused there") {
                        try await phone("GET", path).status == 401 ? () : nil
                    }
                }
            }
        }
    }
}
