internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// The limit of webhooks, which many callers reach at the same time.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct LimitTests {
    @Test func `an app's webhooks are limited, and other apps' webhooks do not count against it`() async throws {
        let stage = try await Stage.own()
        try await stage.putApp()
        let another = stage.bundleID + "-2"
        try await stage.putApp(another)
        let own = try await stage.caller([.organise], app: stage.bundleID)
        let other = try await stage.caller([.organise], app: another)
        let limit = 20
        let draft = #"{"url": "https://hooks.example.com/x", "topics": ["channel.replaced"]}"#
        // All calls are made at once, and none gets past the limit.
        let answers = try await concurrently(limit + 4) { _ in try await own("POST", "/v1/webhooks", draft) }
        #expect(answers.count { $0.status == 201 } == limit)
        for refused in answers where refused.status != 201 {
            #expect(refused.status == 409)
            #expect(refused.slug == "webhook-limit")
            #expect(refused.json["limit"]?.int == limit)
        }
        #expect(try await other("POST", "/v1/webhooks", draft).status == 201)
        let all = try await stage.api("POST", "/v1/webhooks", draft)
        #expect(all.status == 201)
        // The limit also holds when an existing webhook is changed to belong to this app.
        let path = "/v1/webhooks/\(try #require(all.json["id"]?.string))"
        let moved = draft.dropLast() + #", "bundleId": "\#(stage.bundleID)"}"#
        #expect(try await stage.api("PUT", path, String(moved)).slug == "webhook-limit")
        #expect(try await stage.api("PUT", path, draft).status == 200)
        // A deleted webhook makes room for another one.
        let one = try #require(answers.first { $0.status == 201 }?.json["id"]?.string)
        #expect(try await own("PUT", "/v1/webhooks/\(one)", draft).status == 200)
        #expect(try await own("DELETE", "/v1/webhooks/\(one)").status == 204)
        #expect(try await own("POST", "/v1/webhooks", draft).status == 201)
    }
}
