internal import Foundation
internal import Grandstand
internal import Testing

/// Rate limits.
@Suite(.timeLimit(.minutes(20)))
struct HardeningTests {
    @Test func `a key beyond its rate limit is told when to retry, and another key is served`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_RATE_LIMIT": "0.05"]) { stage in
            let caller = try await stage.caller([.operate])
            let first = try await caller("GET", "/v1/quotas")
            #expect(first.status == 200)
            #expect(first.headers["ratelimit-limit"] == "1")
            #expect(first.headers["ratelimit-remaining"] == "0")
            let second = try await caller("GET", "/v1/quotas")
            #expect(second.status == 429)
            #expect(second.slug == "rate-limited")
            #expect(second.json["detail"]?.string?.contains("may make 0.05 requests a second here, 1 at once") == true)
            let wait = try #require(second.headers["retry-after"].flatMap { Int($0) })
            #expect((1...20).contains(wait))
            #expect(second.headers["ratelimit-reset"] == String(wait))
            #expect(try await stage.api("GET", "/v1/quotas").status == 200)
        }
    }
}
