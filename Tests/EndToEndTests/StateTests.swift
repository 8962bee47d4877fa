internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// `PUT /v1/events/{key}/state` from outside, through two replicas.
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

    /// Two servers on one database, an event with a channel in each environment, and its content type.
    private static func withReplicas(_ body: (Stage, [HTTPCaller]) async throws -> Void) async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { one in
                try await one.putLiveEvent(
                    "derby",
                    [Stage.audience(.development, .noMessageStored), Stage.audience(.production, .noMessageStored)])
                let answer = try await one.api("PUT", Self.type, Self.declaration)
                try #require(answer.status == 201, "\(answer.text)")
                try await Stage.serve(environment, simulator: simulator) { two in
                    try await body(one, [one.api, HTTPCaller(url: two.url, secret: one.api.secret)])
                }
            }
        }
    }

    /// The channels' messages that ring.
    private static func alerts(_ stage: Stage) -> [JSON] {
        stage.simulator.journal().filter { $0.request.isBroadcast && $0.status == 200 }.map(\.request.json)
            .compactMap { $0["aps"]?["alert"] }
    }

    @Test func `a scheduled message shows no old score, and no goal rings again after it`() async throws {
        try await Self.withReplicas { stage, _ in
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

    @Test func `two feeds of one match through two replicas send at most one alert for each goal`() async throws {
        try await Self.withReplicas { stage, replicas in
            let goals = 20
            #expect(try await replicas[0]("PUT", Self.path, Self.state(0, 0)).status == 202)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for replica in replicas {
                    group.addTask {
                        for sequence in 1...goals {
                            let answer = try await replica("PUT", Self.path, Self.state(sequence, sequence))
                            // If the status is not 202, the other feed has put the same state or a later one.
                            #expect([200, 202, 409].contains(answer.status), "\(answer.text)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let repeated = try await replicas[1]("PUT", Self.path, Self.state(goals, goals + 1))
            #expect((repeated.status, repeated.json["outcome"]?.string) == (200, "unchanged"))
            let states = try await stage.api("GET", "/v1/events/derby/broadcasts").json["items"]?.items ?? []
            for broadcast in states { _ = try await stage.settled(try #require(broadcast["id"]?.string)) }
            let bodies = Self.alerts(stage).compactMap { $0["body"]?.string }
            #expect(Dictionary(bodies.map { ($0, 1) }, uniquingKeysWith: +).values.allSatisfy { $0 <= 2 }, "\(bodies)")
            #expect(bodies.count { $0 == "\(goals - 1) → \(goals)" } == 2)
        }
    }
}
