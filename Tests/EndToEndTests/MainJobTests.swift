internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

/// The whole way: an app, an event for two environments under two policies, lookups, updates, the end.
@Suite(.timeLimit(.minutes(20)))
struct MainJobTests {
    /// JSON that must arrive unchanged: numbers that a decoder would change, an escape, white space and an order of
    /// keys.
    static let contentState = #"{"z": 12345678901234567890, "a":1.50e3 , "ball":"\u26bd", "m": [1,  2]}"#
    static let alert =
        #"{"title": {"loc-key": "GOAL \u26bd", "loc-args": ["1", "0"]}, "body": "1–0", "sound": "goal.aiff"}"#

    @Test func `a match goes from declaration to end, and APNs sees the documented requests`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_APNS_REQUEST_TIMEOUT": "60"]) { try await Self.play($0) }
    }

    private static func play(_ stage: Stage) async throws {
        try await stage.putApp()
        try await stage.putEvent(nil, [Stage.audience(), Stage.audience(.production, .mostRecentMessageStored)])
        let channels = try await stage.activeChannels()
        #expect(channels.count == 2)
        let creations = try await stage.simulator.awaitRequests(2) { $0.request.isCreation }
        #expect(
            Set(creations.map(\.request.text)) == [
                #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#,
                #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#,
            ])

        // Apps make this lookup before they start an activity. It gives the ID of the channel that the simulator
        // has.
        for (channel, environment) in zip(channels, APNsEnvironment.allCases) {
            let lookup = try await stage.shown("/v1/lookup/\(Stage.bundleID)/\(environment)/derby")
            #expect(lookup["channelId"]?.string == channel)
            #expect(stage.simulator.channels(of: Stage.bundleID, in: environment).map(\.id) == [channel])
        }

        let before = Int(Date().timeIntervalSince1970)
        let update = try await stage.settled(
            try await stage.broadcast(
                #"{"event": "update", "contentState": \#(Self.contentState)}"#))
        #expect(update.deliveryStates == ["accepted", "accepted"])
        let goal = try await stage.settled(
            try await stage.broadcast(
                #"{"event": "update", "contentState": {"home":1}, "alert": \#(Self.alert), "expiresIn": 300, "relevanceScore": 99.50, "staleDate": "2030-01-01T00:00:00Z"}"#
            ))
        #expect(goal.deliveryStates == ["accepted", "accepted"])
        let end = try await stage.settled(
            try await stage.broadcast(
                #"{"event": "end", "contentState": {"home":1}, "dismissalDate": "2020-01-02T00:00:00.900Z"}"#
            ))
        #expect(end.deliveryStates == ["accepted", "accepted"])
        let after = Int(Date().timeIntervalSince1970)

        let bodies = [
            (#""event":"update","content-state":\#(Self.contentState)"#, "5", 28_800),
            (
                #""event":"update","content-state":{"home":1},"alert":\#(Self.alert),"stale-date":1893456000,"relevance-score":99.50"#,
                "10", 300
            ),
            (#""event":"end","content-state":{"home":1},"dismissal-date":1577923200"#, "10", 28_800),
        ]
        for (environment, channel) in zip(APNsEnvironment.allCases, channels) {
            let entries = try await stage.simulator.awaitRequests(3) {
                $0.request.isBroadcast && $0.request.environment == environment
            }
            #expect(entries.count == 3)
            for ((entry, answer), (body, priority, lifetime)) in zip(zip(entries, [update, goal, end]), bodies) {
                let request = entry.request
                let timestamp = try #require(request.timestamp)
                #expect(request.text == #"{"aps":{"timestamp":\#(timestamp),\#(body)}}"#)
                let delivery = try #require(
                    answer["deliveries"]?.items.first { $0["environment"]?.string == environment.rawValue })
                #expect(delivery["timestamp"]?.int == timestamp)
                #expect(delivery["channelId"]?.string == channel)
                let expiration = try #require(delivery["apnsExpiration"]?.int)
                if environment == .development {
                    #expect(expiration == 0)
                } else {
                    // The expiration is rounded up to whole seconds.
                    #expect(((before + lifetime)...(after + lifetime + 1)).contains(expiration))
                }
                let requestID = try #require(delivery["apnsRequestId"]?.string)
                let fields = [
                    "apns-channel-id": channel, "apns-push-type": "liveactivity", "apns-priority": priority,
                    "apns-expiration": String(expiration), "apns-request-id": requestID,
                ]
                for (name, value) in fields { #expect(request[header: name] == value) }
            }
        }

        #expect(try await stage.shown("/v1/events/derby")["state"]?.string == "ended")
    }
}
