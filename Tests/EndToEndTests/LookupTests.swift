internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Lookups, which are the hot path.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct LookupTests {
    @Test func `a lookup with the current tag gets 304 until something changes`() async throws {
        let stage = try await Stage.own()
        let channelID = try await stage.putLiveEvent().first
        let path = "/v1/lookup/\(stage.bundleID)/development/\(stage.event)"
        let first = try await stage.api("GET", path)
        #expect(first.status == 200)
        #expect(first.json["channelId"]?.string == channelID)
        #expect(first.json["eventKey"]?.string == stage.event)
        #expect(first.json["storagePolicy"]?.string == "noMessageStored")
        #expect(first.json["state"]?.string == "scheduled")
        #expect(first.headers["cache-control"] == "public, max-age=10")
        let tag = try #require(first.headers["etag"])
        let known = try await stage.api("GET", path, headers: ["If-None-Match": tag])
        #expect(known.status == 304 && known.body.isEmpty && known.headers["etag"] == tag)
        // The case of the bundle ID does not matter: the answer has the same bytes.
        #expect(try await stage.api("GET", path.lowercased()).body == first.body)

        // After a change is answered, a lookup at the same server never returns the previous state.
        _ = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
        let live = try await stage.api("GET", path, headers: ["If-None-Match": tag])
        #expect(live.status == 200)
        #expect(live.json["state"]?.string == "live")
        #expect(live.headers["etag"] != tag)
    }

    @Test func `an app's list of events can be filtered and paged, and has a tag`() async throws {
        let stage = try await Stage.own()
        try await stage.putApp()
        let path = "/v1/lookup/\(stage.bundleID)/development"
        let (early, late) = (stage.event + "-1", stage.event + "-2")
        for (key, topic, day) in [(late, "team:a", "02-01"), (early, "team:b", "01-01")] {
            let answer = try await stage.api(
                "PUT", "/v1/events/\(key)",
                """
                {"name": "\(key)", "startsAt": "2030-\(day)T18:00:00Z", "topics": ["\(topic)"],
                 "audiences": [\(stage.audience(.development, .noMessageStored))]}
                """)
            #expect(answer.status == 201, "\(answer.text)")
        }
        for key in [early, late] { try await stage.activeChannels(of: key) }
        // Until the server has read the latest changes, it answers 503, and apps ask again.
        func list(_ query: String = "", _ headers: [String: String] = [:]) async throws -> HTTPCaller.Answer {
            try await until("\(query) is answered") {
                let answer = try await stage.api("GET", path + query, headers: headers)
                return answer.status == 503 ? nil : answer
            }
        }
        func keys(_ query: String = "") async throws -> [String?] {
            try await list(query).json["items"]?.items.map { $0["eventKey"]?.string } ?? []
        }
        // A channel that becomes active later would change the list and its tag.
        let listed = try await until("both events have their channel") {
            let answer = try await list()
            let channels = answer.json["items"]?.items.compactMap { $0["channelId"]?.string } ?? []
            return channels.count == 2 ? answer : nil
        }
        #expect(try await keys() == [early, late])
        #expect(try await keys("?topic=team%3Aa") == [late])
        #expect(try await keys("?to=2030-01-02T00:00:00Z") == [early])
        #expect(try await keys("?state=live") == [])
        let cursor = try #require(try await list("?limit=1").json["nextCursor"]?.string)
        #expect(try await keys("?limit=1&cursor=\(cursor)") == [late])
        let tag = try #require(listed.headers["etag"])
        #expect(try await list("", ["If-None-Match": tag]).status == 304)
    }

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
