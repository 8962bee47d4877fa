internal import APNsSimulator
internal import Foundation
internal import Testing

/// Many broadcasts in one call: each accepted or refused on its own, in one commit.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct BatchTests {
    @Test func `a batch is answered in order, and a mistake in one item affects only that item`() async throws {
        let stage = try await Stage.own()
        try await stage.putApp()
        let (derby, cup) = (stage.event, stage.event + "-2")
        for key in [derby, cup] {
            try await stage.putEvent(key)
            try await stage.activeChannels(of: key)
        }
        let answer = try await stage.api(
            "POST", "/v1/broadcasts",
            """
            {"items": [
              {"eventKey": "\(derby)", "event": "update", "contentState": {"score": 1.50e1}},
              {"eventKey": "nowhere", "event": "update", "contentState": {}},
              {"eventKey": "\(cup)", "event": "update", "contentstate": {}},
              {"eventKey": "not a key", "event": "update", "contentState": {}},
              {"eventKey": "\(cup)", "event": "update", "contentState": {}, "apnsExpiration": 1},
              7,
              {"eventKey": "\(cup)", "event": "end", "contentState": {"n": 2}},
              {"eventKey": "\(cup)", "event": "update", "contentState": {"n": 3}}
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

/// Channels that belong to no event take broadcasts of their own.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct ChannelBroadcastTests {
    @Test func `updates and an end reach the channel, nothing follows the end, and an event's channel is refused`()
        async throws
    {
        let stage = try await Stage.own()
        try await stage.putLiveEvent()
        let channels = "/v1/apps/\(stage.bundleID)/development/channels"
        let owned = try await stage.api("GET", channels).json["items"]?[0]
        let update = #"{"event": "update", "contentState": {"n": 1}}"#
        let refused = try await stage.api("POST", "\(channels)/\(owned?["id"]?.string ?? "")/broadcasts", update)
        #expect((refused.status, refused.slug) == (409, "channel-in-use"))

        let channel = try await stage.api("POST", channels, #"{"storagePolicy": "mostRecentMessageStored"}"#).json
        let path = "\(channels)/\(try #require(channel["id"]?.string))/broadcasts"
        for body in [update, #"{"event": "end"}"#] {
            let answer = try await stage.api("POST", path, body)
            try #require(answer.status == 202, "\(answer.text)")
            #expect(answer.json["eventKey"] == nil)
            let settled = try await stage.settled(try #require(answer.json["id"]?.string))
            #expect(settled.deliveryStates == ["accepted"])
            #expect(settled["deliveries"]?[0]?["channelId"]?.string == channel["channelId"]?.string)
        }
        let sent = try await stage.sent(2)
        #expect(sent.allSatisfy { $0[header: "apns-channel-id"] == channel["channelId"]?.string })
        let late = try await stage.api("POST", path, update)
        #expect((late.status, late.slug) == (409, "event-ended"))
    }
}
