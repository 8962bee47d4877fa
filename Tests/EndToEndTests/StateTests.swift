internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// `PUT /v1/events/{key}/state` from outside.
@Suite(.timeLimit(.minutes(20)))
struct StateTests {
    private static let path = "/v1/events/derby/state"
    private static let type = "/v1/apps/\(Stage.bundleID)/contents/MatchAttributes"
    private static let declaration = #"""
        {"check": "refuse",
         "versions": [
            {"name": "3.1", "schema": {"properties": {"home": {"type": "integer"}}, "required": ["home"]}},
            {"name": "3.2", "schema": {"properties": {"home": {"type": "integer"}, "clock": {"type": "string"}}}}],
         "rules": {"quiet": ["/clock"],
            "rings": [{"when": {"increases": "/home"}, "alert": {"title": "Goal", "body": "{old:home} → {home}"}}]}}
        """#

    private static func state(_ home: Int, _ sequence: Int) -> String {
        #"{"contentState": {"home": \#(home)}, "sequence": \#(sequence)}"#
    }

    /// The channels' messages that ring.
    private static func alerts(_ stage: Stage) -> [JSON] {
        stage.simulator.journal().filter { $0.request.isBroadcast && $0.status == 200 }.map(\.request.json)
            .compactMap { $0["aps"]?["alert"] }
    }

    @Test func `a scheduled message shows no old score, and no goal rings again after it`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent(
                "derby",
                [Stage.audience(.development, .noMessageStored), Stage.audience(.production, .noMessageStored)])
            let declared = try await stage.api("PUT", Self.type, Self.declaration)
            try #require(declared.status == 201, "\(declared.text)")
            func put(_ home: Int) async throws -> JSON {
                try await stage.api("PUT", Self.path, Self.state(home, home)).json
            }
            _ = try await put(1)
            let soon = (Date() + 3).ISO8601Format()
            let half = #""contentState": {"home": 1}, "alert": {"title": "Half"}, "sendAt": "\#(soon)""#
            let scheduled = try await stage.broadcast(#"{"event": "update", \#(half)}"#, to: "derby")
            _ = try await stage.settled(try #require(try await put(2)["id"]?.string))
            #expect(try await stage.settled(scheduled)["state"]?.string == "done")
            #expect(try await put(2)["outcome"]?.string == "unchanged")
            let sent = stage.simulator.journal().filter { $0.request.isBroadcast && $0.status == 200 }
            let homes = sent.map { $0.request.json["aps"]?["content-state"]?["home"]?.int }
            #expect(homes.drop { $0 != 2 }.allSatisfy { $0 == 2 }, "\(homes)")
            let titles = Self.alerts(stage).compactMap { $0["title"]?.string }
            #expect(titles.sorted() == ["Goal", "Goal", "Half", "Half"])
        }
    }
}
