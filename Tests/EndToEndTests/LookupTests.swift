internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// Lookups, which are the hot path.
@Suite(.timeLimit(.minutes(5)))
struct LookupTests {
    private static let path = "/v1/lookup/com.example.Stadium/development/derby"

    @Test func `a lookup with the current tag gets 304 until something changes`() async throws {
        try await Stage.with { stage in
            let channelID = try await stage.putLiveEvent().first
            let first = try await stage.api("GET", Self.path)
            #expect(first.status == 200)
            #expect(first.json["channelId"]?.string == channelID)
            #expect(first.json["eventKey"]?.string == "derby")
            #expect(first.json["storagePolicy"]?.string == "noMessageStored")
            #expect(first.json["state"]?.string == "scheduled")
            #expect(first.headers["cache-control"] == "public, max-age=10")
            let tag = try #require(first.headers["etag"])
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))

            for candidates in [tag, "\"other\", \(tag)", "W/\(tag)", "*"] {
                let known = try await stage.api("GET", Self.path, headers: ["If-None-Match": candidates])
                #expect(known.status == 304, "\(candidates)")
                #expect(known.body.isEmpty)
                #expect(known.headers["etag"] == tag)
            }
            #expect(try await stage.api("GET", Self.path, headers: ["If-None-Match": "\"other\""]).status == 200)
            // The case of the bundle ID does not matter: the answer has the same bytes.
            let lowercase = try await stage.api("GET", Self.path.lowercased())
            #expect(lowercase.body == first.body)

            _ = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            let live = try await until("memory has heard of it") {
                let answer = try await stage.api("GET", Self.path, headers: ["If-None-Match": tag])
                return answer.status == 200 ? answer : nil
            }
            #expect(live.json["state"]?.string == "live")
            #expect(live.headers["etag"] != tag)
        }
    }

    @Test func `a lookup includes the newest accepted content state on request, byte for byte`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let path = Self.path + "?include=contentState"
            #expect(try await stage.api("GET", path).json["contentState"] == nil)
            // A lookup shows a state as soon as it is accepted, even if it is not sent yet.
            let hold = stage.simulator.hold { $0.isBroadcast }
            _ = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            let id = try await stage.broadcast(
                #"{"event": "update", "contentState": \#(MainJobTests.contentState)}"#)
            let answer = try await stage.api("GET", path)
            #expect(answer.text.contains(#""contentState":\#(MainJobTests.contentState)"#), "\(answer.text)")
            #expect(answer.json["timestamp"]?.int != nil)
            #expect(try await stage.api("GET", Self.path).json["contentState"] == nil)
            hold.release()
            let timestamp = try await stage.settled(id)["deliveries"]?[0]?["timestamp"]?.int
            // The timestamp that phones got.
            #expect(timestamp != nil)
            #expect(
                stage.simulator.journal().last { $0.request.isBroadcast }?.request.json["aps"]?["timestamp"]?.int
                    == timestamp)
            #expect(try await stage.api("GET", path).json["timestamp"]?.int == timestamp)
            #expect(try await stage.api("GET", Self.path + "?include=all").status == 422)
        }
    }

    @Test func `while the channel limit leaves an event without a channel, lookups say when to ask again`() async throws
    {
        try await Stage.with { stage in
            func putApp(_ limit: Int) async throws {
                let answer = try await stage.api(
                    "PUT", "/v1/apps/\(Stage.bundleID)",
                    #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1", "channelLimit": \#(limit)}"#)
                #expect((200...201).contains(answer.status), "\(answer.text)")
            }
            try await putApp(1)
            _ = try await stage.putEvent("cup")
            _ = try await stage.activeChannels(of: "cup")
            _ = try await stage.putEvent("derby")
            let told = try await until("the creation was refused") {
                let answer = try await stage.api("GET", Self.path)
                return answer.text.contains("no channel left") ? answer : nil
            }
            #expect((told.status, told.slug) == (404, "channel-pending"))
            let retryAfter = try #require(told.headers["retry-after"].flatMap { Int($0) })
            #expect((2...30).contains(retryAfter))
            #expect(told.headers["cache-control"] == "public, max-age=\(min(retryAfter, 10))")
            // The answers from memory are the same as those from the database, which is asked once a second.
            for _ in 1...20 {
                let answer = try await stage.api("GET", Self.path)
                #expect(answer.text.contains("no channel left"), "\(answer.text)")
            }
            try await putApp(2)
            try await until("there is a place") {
                try await stage.api("GET", Self.path).status == 200 ? () : nil
            }
        }
    }

    @Test func `the Date header never goes back and lags little, from memory and from the database`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            _ = try await until("memory knows it") {
                try await stage.api("GET", Self.path).status == 200 ? true : nil
            }
            var last = Date.distantPast
            let end = ContinuousClock.now + .seconds(3)
            while ContinuousClock.now < end {
                for path in [Self.path, "/v1/events/derby", Self.path + "-2", "/healthz"] {
                    let before = Date()
                    let answer = try await stage.api("GET", path)
                    let date = try #require(answer.headers["date"].flatMap { HTTPDate.parse($0) })
                    #expect(date >= last, "\(path)")
                    // The header `Date` has whole seconds, so it may be up to one second behind the clock. The other
                    // half second is for the estimate of the database's clock, which is less exact the later the
                    // database answers.
                    #expect(date.timeIntervalSince(before) > -1.5, "\(path)")
                    #expect(date.timeIntervalSinceNow < 0.5, "\(path)")
                    last = date
                }
            }
        }
    }

    @Test func `another replica learns of a change, and of a revoked key`() async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { one in
                try await Stage.serve(environment, simulator: simulator) { two in
                    try await one.putLiveEvent()
                    let (key, secret) = try await one.server.keys.create(
                        name: "phone", scopes: [.lookup], bundleID: nil)
                    let phone = HTTPCaller(url: two.url, secret: secret)
                    try await until("the other replica knows the event") {
                        try await phone("GET", Self.path).status == 200 ? () : nil
                    }
                    _ = try await one.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                    try await until("it is live there too") {
                        try await phone("GET", Self.path).json["state"]?.string == "live" ? () : nil
                    }
                    #expect(try await one.server.keys.revoke(key.id, now: Date()))
                    try await until("the key is refused there") {
                        try await phone("GET", Self.path).status == 401 ? () : nil
                    }
                }
            }
        }
    }
}
