internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

/// The hot path.
@Suite(.timeLimit(.minutes(5)))
struct LookupTests {
    private static let path = "/v1/lookup/com.example.Stadium/development/derby"

    @Test func `an answer that is known already is 304, until something changes`() async throws {
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
            // The bundle ID matches without regard to case, with the same bytes.
            let lowercase = try await stage.api("GET", Self.path.lowercased())
            #expect(lowercase.body == first.body)

            _ = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            let live = try await stage.api("GET", Self.path, headers: ["If-None-Match": tag])
            #expect(live.status == 200)
            #expect(live.json["state"]?.string == "live")
            #expect(live.headers["etag"] != tag)
        }
    }

    @Test func `the newest accepted state comes along when asked for, as it was written`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let path = Self.path + "?include=contentState"
            #expect(try await stage.api("GET", path).json["contentState"] == nil)
            // Accepted and not yet sent is accepted.
            let hold = stage.simulator.hold { $0.isBroadcast }
            _ = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            let id = try await stage.broadcast(
                #"{"event": "update", "contentState": \#(MainJobTests.contentState)}"#)
            let answer = try await stage.api("GET", path)
            #expect(answer.text.contains(#""contentState":\#(MainJobTests.contentState)"#), "\(answer.text)")
            #expect(answer.json["timestamp"]?.int != nil)
            #expect(try await stage.api("GET", Self.path).json["contentState"] == nil)
            hold.release()
            _ = try await stage.settled(id)
            #expect(try await stage.api("GET", Self.path + "?include=all").status == 422)
        }
    }
}
