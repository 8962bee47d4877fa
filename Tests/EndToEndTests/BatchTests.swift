internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import Testing

/// Many broadcasts in one call: each accepted or refused on its own, in one commit.
@Suite(.timeLimit(.minutes(5)))
struct BatchTests {
    @Test func `a batch is answered in order, and a mistake in one item affects only that item`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            for key in ["derby", "final"] {
                try await stage.putEvent(key)
                try await stage.activeChannels(of: key)
            }
            let answer = try await stage.api(
                "POST", "/v1/broadcasts",
                """
                {"items": [
                  {"eventKey": "derby", "event": "update", "contentState": {"score": 1.50e1}},
                  {"eventKey": "nowhere", "event": "update", "contentState": {}},
                  {"eventKey": "final", "event": "update", "contentstate": {}},
                  {"eventKey": "not a key", "event": "update", "contentState": {}},
                  {"eventKey": "final", "event": "update", "contentState": {}, "apnsExpiration": 1},
                  7,
                  {"eventKey": "final", "event": "end", "contentState": {"n": 2}},
                  {"eventKey": "final", "event": "update", "contentState": {"n": 3}}
                ]}
                """)
            #expect(answer.status == 202)
            let items = answer.json["items"]?.items ?? []
            let slugs = items.map { $0["problem"]?["type"]?.string?.split(separator: "/").last.map(String.init) }
            #expect(
                slugs == [
                    nil, "event-not-found", "unknown-field", "invalid-request", "expiration-not-allowed",
                    "invalid-request", nil, "event-ended",
                ])
            let pointers = items.map { $0["problem"]?["errors"]?[0]?["pointer"]?.string }
            #expect(pointers[2] == "/items/2/contentstate")
            #expect(pointers[3] == "/items/3/eventKey")
            #expect(pointers[4] == "/items/4/apnsExpiration")
            for index in [0, 6] {
                let id = try #require(items[index]["id"]?.string)
                #expect(try await stage.settled(id).deliveryStates == ["accepted"])
            }
            let sent = try await stage.sent(2)
            #expect(sent.count == 2)
            #expect(sent.contains { $0.text.contains(#"{"score": 1.50e1}"#) })
        }
    }

    @Test func `of 500 updates of one event in a batch only the last is sent`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_LANE_INTERVAL": "1"]) { stage in
            try await stage.putLiveEvent()
            let items = (0..<500).map { #"{"eventKey": "derby", "event": "update", "contentState": {"n": \#($0)}}"# }
            let answer = try await stage.api(
                "POST", "/v1/broadcasts", #"{"items": [\#(items.joined(separator: ","))]}"#)
            #expect(answer.status == 202)
            let ids = answer.json["items"]?.items.compactMap { $0["id"]?.string } ?? []
            #expect(ids.count == 500)
            #expect(try await stage.settled(try #require(ids.last)).deliveryStates == ["accepted"])
            #expect(try await stage.settled(ids[0]).deliveryStates == ["superseded"])
            #expect(try await stage.sent(1).map { $0.text.contains(#"{"n": 499}"#) } == [true])
        }
    }

    @Test func `a key bound to one app cannot send to another app's event in a batch`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            try await stage.putApp("com.example.Other")
            let stranger = try await stage.caller([.organise], app: "com.example.Other")
            let answer = try await stranger(
                "POST", "/v1/broadcasts",
                #"{"items": [{"eventKey": "derby", "event": "update", "contentState": {}}]}"#)
            #expect(answer.status == 202)
            #expect(answer.json["items"]?[0]?["problem"]?["status"]?.int == 404)
            #expect(stage.simulator.journal().count { $0.request.isBroadcast } == 0)
        }
    }
}

/// Channels that belong to no event take broadcasts of their own.
@Suite(.timeLimit(.minutes(5)))
struct ChannelBroadcastTests {
    private static let channels = "/v1/apps/\(Stage.bundleID)/development/channels"

    private static func create(_ stage: Stage) async throws -> (id: String, channelID: String) {
        try await stage.putApp()
        let channel = try await stage.api("POST", channels, #"{"storagePolicy": "mostRecentMessageStored"}"#).json
        return (try #require(channel["id"]?.string), try #require(channel["channelId"]?.string))
    }

    @Test func `updates and an end reach the channel, in order, and nothing follows the end`() async throws {
        try await Stage.with { stage in
            let (id, channelID) = try await Self.create(stage)
            let path = "\(Self.channels)/\(id)/broadcasts"
            for body in [#"{"event": "update", "contentState": {"n": 1}}"#, #"{"event": "end"}"#] {
                let answer = try await stage.api("POST", path, body)
                try #require(answer.status == 202, "\(answer.text)")
                #expect(answer.json["eventKey"] == nil)
                let settled = try await stage.settled(try #require(answer.json["id"]?.string))
                #expect(settled.deliveryStates == ["accepted"])
                #expect(settled["deliveries"]?[0]?["channelId"]?.string == channelID)
            }
            let sent = try await stage.sent(2)
            #expect(sent.allSatisfy { $0[header: "apns-channel-id"] == channelID })
            let late = try await stage.api("POST", path, #"{"event": "update", "contentState": {}}"#)
            #expect(late.status == 409)
            #expect(late.slug == "event-ended")
        }
    }

    @Test func `a broadcast to a channel with a sendAt is sent at that time`() async throws {
        try await Stage.with { stage in
            let (id, _) = try await Self.create(stage)
            let sendAt = ISO8601DateFormatter().string(from: Date().addingTimeInterval(2))
            let answer = try await stage.api(
                "POST", "\(Self.channels)/\(id)/broadcasts",
                #"{"event": "update", "contentState": {}, "sendAt": "\#(sendAt)"}"#)
            #expect(answer.json["state"]?.string == "scheduled")
            let settled = try await stage.settled(try #require(answer.json["id"]?.string))
            #expect(settled.deliveryStates == ["accepted"])
        }
    }

    @Test func `direct broadcasts to an event's, unknown or deleted channel, or with audiences, are refused`()
        async throws
    {
        try await Stage.with { stage in
            let (id, _) = try await Self.create(stage)
            let update = #"{"event": "update", "contentState": {}}"#
            let audiences =
                #"{"event": "update", "contentState": {}, "audiences": [{"bundleId": "a.b", "environment": "production"}]}"#
            #expect(
                try await stage.api("POST", "\(Self.channels)/\(id)/broadcasts", audiences).pointers == ["/audiences"])
            let nobody = UUID().uuidString.lowercased()
            #expect(
                try await stage.api("POST", "\(Self.channels)/\(nobody)/broadcasts", update).slug == "channel-not-found"
            )

            try await stage.putEvent("derby")
            try await stage.activeChannels(of: "derby")
            let list = try await stage.api("GET", Self.channels + "?eventKey=derby").json["items"]
            let owned = try #require(list?[0]?["id"]?.string)
            let refused = try await stage.api("POST", "\(Self.channels)/\(owned)/broadcasts", update)
            #expect(refused.status == 409)
            #expect(refused.slug == "channel-in-use")

            #expect(try await stage.api("DELETE", "\(Self.channels)/\(id)").status == 204)
            #expect(
                try await stage.api("POST", "\(Self.channels)/\(id)/broadcasts", update).slug == "channel-not-found")
            #expect(stage.simulator.journal().count { $0.request.isBroadcast } == 0)
        }
    }
}
