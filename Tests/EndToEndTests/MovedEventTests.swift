internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Testing

/// A match that moves: what its organiser is told, and when its messages reach phones.
@Suite(.timeLimit(.minutes(5)))
struct MovedEventTests {
    private static let merge = ["Content-Type": "application/merge-patch+json"]

    private static func time(_ seconds: Double) -> String {
        RFC3339.text(Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + seconds).rounded()))
    }

    private static func move(_ stage: Stage, _ body: String) async throws -> JSON {
        let answer = try await stage.api("PATCH", "/v1/events/derby", body, headers: merge)
        try #require(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    @Test func `a message relative to the start moves with its event, and a fixed one causes a warning`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let message = #"{"event": "update", "contentState": {"n": 1}, "sendAt": {"afterStart": -600}}"#
            let refused = try await stage.api("POST", "/v1/events/derby/broadcasts", message)
            #expect(refused.status == 422 && refused.text.contains("startsAt"), "\(refused.text)")
            let start = Self.time(7_200)
            #expect(try await Self.move(stage, #"{"startsAt": "\#(start)"}"#)["warnings"]?.items == [])

            let preview = try await stage.api("POST", "/v1/events/derby/broadcasts/preview", message)
            #expect(preview.json["isScheduled"]?.bool == true, "\(preview.text)")
            let relative = try await stage.broadcast(message)
            let own = try await stage.broadcast(
                #"{"event": "update", "contentState": {"n": 2}, "sendAt": "\#(Self.time(6_000))"}"#)
            let before = try await stage.api("GET", "/v1/broadcasts/\(relative)").json
            #expect(before["afterStart"]?.int == -600)
            #expect(before["sendAt"]?.string == preview.json["goesAt"]?.string)

            // The match now begins in ten minutes and one second, so the message is due in one second.
            let moved = try await Self.move(stage, #"{"startsAt": "\#(Self.time(601))"}"#)
            #expect(moved["warnings"]?.items.count == 1, "\(moved)")
            #expect(moved["warnings"]?[0]?.string?.contains("a sendAt of their own: 1") == true)
            #expect(try await stage.settled(relative).deliveryStates == ["accepted"])
            #expect(try await stage.api("GET", "/v1/broadcasts/\(own)").json["state"]?.string == "scheduled")
        }
    }

    @Test func `implausible times cause warnings in the answers of broadcasts, batches, previews and events`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            _ = try await Self.move(
                stage, #"{"startsAt": "\#(Self.time(-3_600))", "endsAt": "\#(Self.time(3_600))"}"#)
            func body(_ members: String) -> String { #"{"event": "update", "contentState": {}, \#(members)}"# }
            let bodies = [
                body(#""sendAt": "\#(Self.time(-60))""#), body(#""sendAt": "\#(Self.time(7_200))""#),
                body(#""staleDate": "\#(Self.time(-60))""#),
            ]
            for (number, text) in bodies.enumerated() {
                let word = ["in the past", "after endsAt", "staleDate is"][number]
                for path in ["/v1/events/derby/broadcasts/preview", "/v1/events/derby/broadcasts"] {
                    let answer = try await stage.api("POST", path, text)
                    #expect(answer.json["warnings"]?.items.count == 1, "\(answer.text)")
                    #expect(answer.json["warnings"]?[0]?.string?.contains(word) == true, "\(answer.text)")
                }
            }
            let item = bodies[0].replacing("{\"event\"", with: #"{"eventKey": "derby", "event""#)
            let batch = try await stage.api("POST", "/v1/broadcasts", #"{"items": [\#(item)]}"#)
            #expect(batch.json["items"]?[0]?["warnings"]?.items.count == 1, "\(batch.text)")

            // An audience that people follow is removed without an end.
            let channel = try #require(try await stage.activeChannels(of: "derby").first)
            let other = Stage.audience(.production, .noMessageStored)
            let removed = try await Self.move(stage, #"{"audiences": [\#(other)]}"#)
            let told = removed["warnings"]?.items.compactMap(\.string) ?? []
            #expect(told.filter { $0.contains(channel) && $0.contains("without an end") }.count == 1, "\(told)")
        }
    }

    @Test func `a match that is postponed after its first update is scheduled, for lists and lookups, until it begins`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            _ = try await Self.move(stage, #"{"startsAt": "\#(Self.time(-600))"}"#)
            _ = try await stage.settled(try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#))
            func expect(_ state: String) async throws {
                try await until("the match is \(state) for all") {
                    let paths = ["/v1/events/derby", "/v1/lookup/\(Stage.bundleID)/development/derby"]
                    var states: [String?] = []
                    for path in paths { states.append(try await stage.api("GET", path).json["state"]?.string) }
                    let listed = try await stage.api("GET", "/v1/events?state=\(state)").json["items"]?.items.count
                    return states == [state, state] && listed == 1
                }
            }
            try await expect("live")
            _ = try await Self.move(stage, #"{"startsAt": "\#(Self.time(86_400))"}"#)
            try await expect("scheduled")
            _ = try await stage.settled(try await stage.broadcast(#"{"event": "update", "contentState": {"n": 2}}"#))
            try await expect("live")
        }
    }
}
