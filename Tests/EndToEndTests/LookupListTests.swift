internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// The list of the events that an app may offer to its users.
@Suite(.timeLimit(.minutes(5)))
struct LookupListTests {
    private static let path = "/v1/lookup/com.example.Stadium/development"

    private static func event(_ name: String, _ topic: String, _ startsAt: String, _ audience: String? = nil) -> String
    {
        #"{"name": "\#(name)", "kind": "match", "startsAt": "\#(startsAt)", "topics": ["\#(topic)"], "#
            + #""audiences": [\#(audience ?? Stage.audience(.development, .noMessageStored))]}"#
    }

    private static func keys(_ answer: HTTPCaller.Answer) -> [String] {
        answer.json["items"]?.items.compactMap { $0["eventKey"]?.string } ?? []
    }

    @Test func `an app's list of events has their lookup data, with filters, pages and a tag`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            try await stage.putApp("com.example.Other")
            let other = Stage.audience(.development, .noMessageStored, of: "com.example.Other")
            for (key, body) in [
                ("late", Self.event("Late", "team:a", "2030-02-01T18:00:00Z")),
                ("early", Self.event("Early", "team:a", "2030-01-01T18:00:00Z")),
                ("elsewhere", Self.event("Elsewhere", "team:b", "2030-01-02T18:00:00Z")),
                ("others", Self.event("Others", "team:a", "2030-01-01T18:00:00Z", other)),
                ("over", Self.event("Over", "team:a", "2030-01-01T18:00:00Z")),
            ] {
                let answer = try await stage.api("PUT", "/v1/events/\(key)", body)
                #expect(answer.status == 201, "\(answer.text)")
            }
            #expect(try await stage.api("DELETE", "/v1/events/over").status == 204)
            let caller = try await stage.caller([.lookup], app: Stage.bundleID)
            // Until the server has read the latest changes, it answers 503, and apps ask again.
            func app(
                _ method: String, _ path: String, _ headers: [String: String] = [:]
            ) async throws -> HTTPCaller.Answer {
                try await until("\(path) is answered") {
                    let answer = try await caller(method, path, headers: headers)
                    return answer.status == 503 ? nil : answer
                }
            }
            // After a change was answered, the client sees it in the list, too.
            #expect(Self.keys(try await app("GET", Self.path)) == ["early", "elsewhere", "late"])
            #expect(Self.keys(try await app("GET", Self.path + "?topic=team:a")) == ["early", "late"])
            #expect(Self.keys(try await app("GET", Self.path + "?topic=team%3Aa")) == ["early", "late"])
            #expect(Self.keys(try await app("GET", Self.path + "?to=2030-01-02T00:00:00Z")) == ["early"])
            #expect(Self.keys(try await app("GET", Self.path + "?state=live")) == [])
            let first = try await app("GET", Self.path + "?limit=2")
            let cursor = try #require(first.json["nextCursor"]?.string)
            #expect(Self.keys(try await app("GET", Self.path + "?limit=2&cursor=\(cursor)")) == ["late"])

            try await stage.activeChannels(of: "early")
            let channelID = try await app("GET", Self.path + "/early").json["channelId"]?.string
            // A channel that is made later would change the list and its tag.
            let listed = try await until("both events have their channel") {
                let answer = try await app("GET", Self.path + "?topic=team:a")
                let items = answer.json["items"]?.items ?? []
                return items.allSatisfy { $0["channelId"]?.string != nil } ? answer : nil
            }
            let early = try #require(listed.json["items"]?.items.first)
            #expect(early["channelId"]?.string == channelID)
            #expect(early["name"]?.string == "Early")
            #expect(early["kind"]?.string == "match")
            #expect(early["state"]?.string == "scheduled")
            #expect(early["startsAt"]?.string == "2030-01-01T18:00:00.000Z")
            #expect(listed.headers["cache-control"] == "public, max-age=10")
            for word in ["team_id", "teamId", "keyId", "quirk", "Other"] { #expect(!listed.text.contains(word)) }

            let tag = try #require(listed.headers["etag"])
            let same = try await app("GET", Self.path + "?topic=team:a", ["If-None-Match": tag])
            #expect(same.status == 304)
            _ = try await stage.api(
                "PUT", "/v1/events/early", Self.event("Derby", "team:a", "2030-03-01T18:00:00Z"))
            let moved = try await app("GET", Self.path + "?topic=team:a", ["If-None-Match": tag])
            #expect(Self.keys(moved) == ["late", "early"])
            #expect(moved.json["items"]?.items.last?["name"]?.string == "Derby")
        }
    }
}
