internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

/// Order and pace of one channel's messages.
@Suite(.timeLimit(.minutes(5)))
struct LaneTests {
    @Test func `messages of one channel are sent in order, with a pause in between`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_LANE_INTERVAL": "3"]) { stage in
            try await stage.putLiveEvent(
                "derby",
                [Stage.audience(.development, .noMessageStored), Stage.audience(.production, .noMessageStored)])
            for number in 0..<2 {
                _ = try await stage.broadcast(
                    #"{"event": "update", "contentState": {"n": \#(number)}, "alert": {"title": "Goal"}}"#)
            }
            for environment in APNsEnvironment.allCases {
                let entries = try await stage.simulator.requests(2) {
                    $0.request.isBroadcast && $0.request.environment == environment
                }
                #expect(zip(entries, 0..<2).allSatisfy { $0.request.text.contains(#"{"n": \#($1)}"#) })
                for (earlier, later) in zip(entries, entries.dropFirst()) {
                    // The claims are at least half an interval apart, but the first request may leave some time after
                    // its claim.
                    #expect(later.time.timeIntervalSince(earlier.time) > 1)
                }
            }
        }
    }

    @Test func `the end waits for what was accepted before it, and nothing comes after`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let hold = stage.simulator.hold { $0.isBroadcast }
            let first = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            _ = try await stage.sent(1)
            let alert = try await stage.broadcast(
                #"{"event": "update", "contentState": {"n": 2}, "alert": {"title": "Full time"}}"#)
            let stale = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 3}}"#)
            let end = try await stage.broadcast(#"{"event": "end", "contentState": {"n": 4}}"#)
            for event in ["update", "end"] {
                let late = try await stage.api(
                    "POST", "/v1/events/derby/broadcasts", #"{"event": "\#(event)", "contentState": {}}"#)
                #expect(late.status == 409)
                #expect(late.slug == "event-ended")
            }
            hold.release()
            var states: [[String]] = []
            for id in [first, alert, stale, end] { states.append(try await stage.settled(id).deliveryStates) }
            #expect(states == [["accepted"], ["accepted"], ["superseded"], ["accepted"]])
            let sent = try await stage.sent(3)
            #expect(zip(sent, [1, 2, 4]).allSatisfy { $0.text.contains(#"{"n": \#($1)}"#) })
            #expect(sent.map { $0.text.contains("Full time") } == [false, true, false])
            let timestamps = sent.compactMap(\.timestamp)
            #expect(timestamps.count == 3 && timestamps == Array(Set(timestamps)).sorted())
        }
    }

    @Test func `of sixty rapid updates few are sent, but both alerts are, and the newest is last`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            try stage.simulator.addFaults(
                #"{"faults": [{"match": {"operation": "broadcast"}, "action": "delay", "seconds": 0.2}]}"#)
            var ids: [String] = []
            let clock = ContinuousClock()
            let start = clock.now
            for n in 0..<60 {
                let alert = n == 20 || n == 40 ? #", "alert": {"title": "Goal \#(n)"}"# : ""
                ids.append(
                    try await stage.broadcast(#"{"event": "update", "contentState": {"n": \#(n)}\#(alert)}"#))
            }
            ids.append(try await stage.broadcast(#"{"event": "end", "contentState": {"n": 60}}"#))
            // At most this many messages can be sent: one at a time, each for 0.2 s, while the updates come in, then
            // the alerts, the newest update and the end.
            let possible = Int((clock.now - start) / .seconds(0.2)) + 5
            var states: [String: Int] = [:]
            var sent = 0
            for (n, id) in ids.enumerated() {
                let state = try #require(try await stage.settled(id).deliveryStates.first)
                states[state, default: 0] += 1
                if state == "accepted" { sent += 1 }
                if [20, 40, 60].contains(n) { #expect(state == "accepted") }
            }
            #expect(states == ["accepted": sent, "superseded": 61 - sent])
            #expect((4...max(4, possible)).contains(sent), "\(sent) messages")
            let requests = try await stage.sent(sent)
            let numbers = requests.compactMap { $0.json["aps"]?["content-state"]?["n"]?.int }
            #expect(numbers == numbers.sorted() && numbers.last == 60)
            for n in [20, 40] {
                let ringing = requests.filter { $0.text.contains("Goal \(n)") }
                #expect(ringing.count == 1)
                #expect(ringing.allSatisfy { ($0.json["aps"]?["content-state"]?["n"]?.int ?? 0) >= n })
            }
            let timestamps = requests.compactMap(\.timestamp)
            #expect(timestamps == Array(Set(timestamps)).sorted() && timestamps.count == sent)
        }
    }

    @Test func `a queued or scheduled broadcast can be withdrawn, and one that is being sent cannot`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let hold = stage.simulator.hold { $0.isBroadcast }
            let sending = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            _ = try await stage.sent(1)
            let queued = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 2}}"#)
            let scheduled = try await stage.broadcast(
                #"{"event": "update", "contentState": {"n": 3}, "sendAt": "2099-01-01T00:00:00Z"}"#)
            #expect(try await stage.api("GET", "/v1/broadcasts/\(scheduled)").json["state"]?.string == "scheduled")

            #expect(try await stage.api("DELETE", "/v1/broadcasts/\(queued)").status == 204)
            #expect(try await stage.api("DELETE", "/v1/broadcasts/\(scheduled)").status == 204)
            let refused = try await stage.api("DELETE", "/v1/broadcasts/\(sending)")
            #expect(refused.status == 409)
            #expect(refused.slug == "broadcast-sent")
            hold.release()
            #expect(try await stage.settled(sending).deliveryStates == ["accepted"])
            for id in [queued, scheduled] {
                let withdrawn = try await stage.settled(id)
                #expect(withdrawn["state"]?.string == "cancelled")
                #expect(withdrawn.deliveryStates.allSatisfy { $0 == "cancelled" })
            }
            #expect(stage.simulator.journal().count { $0.request.isBroadcast } == 1)
        }
    }
}
