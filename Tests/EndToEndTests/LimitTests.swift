internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// The limits of one caller: webhooks, streams.
@Suite(.timeLimit(.minutes(3)))
struct LimitTests {
    @Test func `an app is found with any capitals in its bundle ID, even without channels`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            for path in ["channels", "channels?managed=false", "reconciliations"] {
                for app in [Stage.bundleID, Stage.bundleID.lowercased()] {
                    let answer = try await stage.api("GET", "/v1/apps/\(app)/production/\(path)")
                    #expect(answer.status == 200, "\(path)")
                }
            }
            #expect(try await stage.api("GET", "/v1/events?bundleId=\(Stage.bundleID)").status == 200)
        }
    }

    @Test func `an app's webhooks are limited, and other apps' webhooks do not count against it`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            try await stage.putApp("com.example.Other")
            let own = try await stage.caller([.organise], app: Stage.bundleID)
            let other = try await stage.caller([.organise], app: "com.example.Other")
            let draft = #"{"url": "https://hooks.example.com/x", "topics": ["broadcast.settled"]}"#
            // All calls are made at once, and none gets past the limit.
            let answers = try await withThrowingTaskGroup { group in
                for _ in 0..<(Webhook.limit + 4) {
                    group.addTask { try await own("POST", "/v1/webhooks", draft) }
                }
                return try await group.reduce(into: [HTTPCaller.Answer]()) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 201 } == Webhook.limit)
            for refused in answers where refused.status != 201 {
                #expect(refused.status == 409)
                #expect(refused.slug == "webhook-limit")
                #expect(refused.json["limit"]?.int == Webhook.limit)
            }
            #expect(try await other("POST", "/v1/webhooks", draft).status == 201)
            let all = try await stage.api("POST", "/v1/webhooks", draft)
            #expect(all.status == 201)
            // The limit also holds when an existing webhook is changed to belong to this app.
            let path = "/v1/webhooks/\(try #require(all.json["id"]?.string))"
            let moved =
                #"{"url": "https://hooks.example.com/x", "topics": ["broadcast.settled"], "bundleId": "\#(Stage.bundleID)"}"#
            #expect(try await stage.api("PUT", path, moved).slug == "webhook-limit")
            #expect(try await stage.api("PUT", path, draft).status == 200)
            // A deleted webhook makes room for another one.
            let one = try #require(answers.first { $0.status == 201 }?.json["id"]?.string)
            #expect(try await own("PUT", "/v1/webhooks/\(one)", draft).status == 200)
            #expect(try await own("DELETE", "/v1/webhooks/\(one)").status == 204)
            #expect(try await own("POST", "/v1/webhooks", draft).status == 201)
        }
    }

    @Test func `one key cannot use all streams`() async throws {
        let settings = ["GRANDSTAND_STREAMS": "3", "GRANDSTAND_STREAMS_PER_KEY": "1"]
        try await Stage.with(settings: settings) { stage in
            try await stage.putLiveEvent()
            let path = "/v1/events/derby/stream"
            let stream = try EventStream.open(stage.api, path)
            var events = stream.events.makeAsyncIterator()
            #expect(await events.next()?.name == "snapshot")
            let refused = try await stage.api("GET", path)
            #expect(refused.status == 429)
            #expect(refused.slug == "rate-limited")
            #expect(refused.json["limit"]?.int == 1)
            #expect(refused.json["detail"]?.string?.contains("GRANDSTAND_STREAMS_PER_KEY") == true)
            let other = try EventStream.open(try await stage.caller([.organise]), path)
            var others = other.events.makeAsyncIterator()
            #expect(await others.next()?.name == "snapshot")
            for stream in [stream, other] { stream.close() }
        }
    }
}
