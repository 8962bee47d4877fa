internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// APNs answers 429: what organisers and operators see of it.
@Suite(.timeLimit(.minutes(20)))
struct ThrottleTests {
    @Test func `an app that APNs throttles is reported, and its alert and newest states are accepted`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            let keys = (1...25).map { "match-\($0)" }
            for key in keys { try await stage.putEvent(key) }
            for key in keys { try await stage.activeChannels(of: key) }
            try stage.simulator.addBucket(#"{"by": "app", "rate": 10, "burst": 5}"#)
            // Sends more than APNs takes, until the quota says that the app is throttled.
            var last: [String] = []
            let throttled = try await until("the quota says so") {
                last = []
                for key in keys {
                    last.append(try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#, to: key))
                }
                return try await stage.quota()["throttled"]
            }
            #expect(throttled["since"]?.string != nil)
            #expect(try await stage.quota()["devicesThrottled"] == nil)
            let refused = Self.refused(stage)
            #expect(refused > 0)
            let goal = try await stage.broadcast(
                #"{"event": "update", "contentState": {"n": 2}, "alert": {"title": "Goal"}}"#, to: "match-25")
            #expect(try await stage.settled(goal).deliveryStates == ["accepted"])
            for id in last.dropLast() { #expect(try await stage.settled(id).deliveryStates == ["accepted"]) }
            #expect(try await stage.api("GET", "/metrics").text.contains("grandstand_throttled_total{"))
            #expect(try await stage.api("GET", "/metrics").text.contains("grandstand_send_rate{"))
            // The server needs some 429s to learn the rate. If it did not learn, there would be hundreds by now.
            #expect(Self.refused(stage) - refused < 25)
        }
    }

    private static func refused(_ stage: Stage) -> Int {
        stage.simulator.journal().count { $0.request.isBroadcast && $0.status == 429 }
    }
}
