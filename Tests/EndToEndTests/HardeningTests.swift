internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import Testing

/// Rate limits, and the access to metrics.
@Suite(.timeLimit(.minutes(5)))
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

    @Test func `a client that guesses keys gets 429, and a valid key from its address is served`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_AUTH_FAILURE_LIMIT": "5"]) { stage in
            var answers: [HTTPCaller.Answer] = []
            for n in 0..<7 {
                answers.append(try await HTTPCaller(url: stage.url, secret: "gs_guess\(n)")("GET", "/v1/apps"))
            }
            #expect(answers.map(\.status) == [401, 401, 401, 401, 401, 429, 429])
            #expect(answers.last?.headers["retry-after"] != nil)
            #expect(try await stage.api("GET", "/v1/apps").status == 200)
        }
    }

    @Test func `only keys that may read quotas can read metrics, and metrics contain no secret`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let id = try await stage.broadcast(#"{"event": "update", "contentState": {"goal": "geheim"}}"#)
            _ = try await stage.settled(id)
            #expect(try await HTTPCaller(url: stage.url, secret: nil)("GET", "/metrics").status == 401)
            for scope in [APIKey.Scope.lookup, .organise] {
                #expect(try await stage.caller([scope])("GET", "/metrics").status == 403, "\(scope)")
            }
            let answer = try await stage.caller([.operate])("GET", "/metrics")
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let text = answer.text
            #expect(text.contains("# TYPE grandstand_http_requests_total counter"))
            #expect(
                text.contains(#"method="POST",route="/v1/events/{key}/broadcasts",status="202"} 1"#)
                    || text.contains(#"method="POST",route="/v1/events/:key/broadcasts",status="202"} 1"#))
            #expect(text.contains("grandstand_apns_answers_total"))
            #expect(!text.contains("geheim"))
            #expect(!text.contains(try #require(stage.api.secret)))
        }
    }
}
