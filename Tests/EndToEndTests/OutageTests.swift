internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// APNs is down, slow, or refuses: every accepted message is sent unchanged, as soon as this is possible.
@Suite(.timeLimit(.minutes(5)))
struct OutageTests {
    @Test func `an event declared while APNs refuses gets its channel by itself`() async throws {
        try await Stage.with(options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            stage.simulator.answerNext(2, with: .refusal(.serviceUnavailable)) { $0.isCreation }
            let put = try await stage.putEvent("derby")
            #expect(put.status == 201)
            #expect(put.json["audiences"]?[0]?["channel"]?["state"]?.string == "pending")
            // The broadcast comes before there is a channel: it waits, and is sent when there is one.
            let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            let lookup = try await stage.api("GET", "/v1/lookup/\(Stage.bundleID)/development/derby")
            #expect([200, 404].contains(lookup.status))
            if lookup.status == 404 {
                #expect(lookup.slug == "channel-pending")
                #expect(lookup.headers["retry-after"] != nil)
            }

            #expect(try await stage.settled(id).deliveryStates == ["accepted"])
            let creations = try await stage.simulator.requests(3) { $0.request.isCreation }
            #expect(creations.map(\.status) == [503, 503, 201])
            #expect(stage.simulator.channels(of: Stage.bundleID, in: .development).count == 1)
        }
    }

    @Test func `an event declared while APNs cannot be reached gets its channel when it is back`() async throws {
        let folder = try TemporaryFolder()
        let addresses = try await SimulatorPlace.free(in: folder.path + "/apns")
        var options = SimulatorOptions(directory: folder.path + "/apns")
        options.port = addresses.port
        let simulator = Simulator(options: options, logger: Stage.logger)
        try await withDatabase { database in
            let environment = addresses.settings.merging(["DATABASE_URL": database.connectionString]) { $1 }
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putApp()
                let put = try await stage.putEvent("derby")
                #expect(put.status == 201)
                // An attempt has failed. The event says why, and when the next attempt is.
                let channel = try await until("the first creation has failed") {
                    let channel = try await stage.api("GET", "/v1/events/derby").json["audiences"]?[0]?["channel"]
                    return channel?["reason"] == nil ? nil : channel
                }
                #expect(channel["state"]?.string == "pending")
                #expect(channel["nextAttemptAt"]?.string != nil)
                #expect(
                    try await stage.api("GET", "/v1/lookup/\(Stage.bundleID)/development/derby").slug
                        == "channel-pending")

                try await simulator.start()
                let channelID = try await stage.activeChannels(of: "derby")
                #expect(simulator.channels(of: Stage.bundleID, in: .development).map(\.id) == channelID)
            }
        }
        await simulator.stop()
    }

    @Test func `a broadcast that was refused temporarily or got no answer is repeated unchanged`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_APNS_REQUEST_TIMEOUT": "0.5"]) { stage in
            try await stage.putLiveEvent()
            stage.simulator.answerNext(1, with: .refusal(.serviceUnavailable)) { $0.isBroadcast }
            stage.simulator.answerNext(1, with: .refusal(.tooManyRequests)) { $0.isBroadcast }
            stage.simulator.dropNext(1) { $0.isBroadcast }
            let id = try await stage.broadcast(
                #"{"event": "update", "contentState": {"home": 1.50e3}, "expiresIn": 60}"#)
            let settled = try await stage.settled(id)
            #expect(settled.deliveryStates == ["accepted"])
            #expect(settled["deliveries"]?[0]?["attempts"]?.int == 4)

            let entries = try await stage.simulator.requests(4) { $0.request.isBroadcast }
            #expect(entries.map(\.status) == [503, 429, 200, 200])
            #expect(entries.map(\.fate) == [.answered, .answered, .dropped, .answered])
            #expect(Set(entries.map(\.request.body)).count == 1)
            #expect(Set(entries.map { $0.request[header: "apns-request-id"] }).count == 1)
            #expect(Set(entries.map { $0.request[header: "apns-expiration"] }).count == 1)
        }
    }

    @Test(arguments: [APNsReason.badPriority, .topicDisallowed, .payloadTooLarge])
    func `a broadcast that APNs refuses permanently is sent only once`(_ reason: APNsReason) async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            stage.simulator.answerNext(1, with: .refusal(reason)) { $0.isBroadcast }
            let rejected = try await stage.settled(
                try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#))
            #expect(rejected.deliveryStates == ["rejected"])
            #expect(rejected["deliveries"]?[0]?["reason"]?.string == reason.rawValue)
            #expect(rejected["deliveries"]?[0]?["attempts"]?.int == 1)
            // The lane goes on.
            let next = try await stage.settled(
                try await stage.broadcast(#"{"event": "update", "contentState": {"n": 2}}"#))
            #expect(next.deliveryStates == ["accepted"])
            #expect(stage.simulator.journal().count { $0.request.isBroadcast } == 2)
        }
    }

    @Test func `a newer state replaces a waiting state, but not a waiting alert`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let hold = stage.simulator.hold { $0.isBroadcast }
            let first = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            _ = try await stage.sent(1)
            let stale = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 2}}"#)
            let alerting = try await stage.broadcast(
                #"{"event": "update", "contentState": {"n": 3}, "alert": {"title": "Goal"}}"#)
            let newest = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 4}}"#)
            hold.release()
            var states: [[String]] = []
            for id in [first, stale, alerting, newest] { states.append(try await stage.settled(id).deliveryStates) }
            #expect(states == [["accepted"], ["superseded"], ["accepted"], ["accepted"]])
            let sent = try await stage.sent(3)
            #expect(sent.count == 3)
            #expect(zip(sent, ["1", "3", "4"]).allSatisfy { $0.text.contains(#"{"n": \#($1)}"#) })
            #expect(sent.map { $0.text.contains("Goal") } == [false, true, false])
            let timestamps = sent.compactMap(\.timestamp)
            #expect(timestamps == Array(Set(timestamps)).sorted())
        }
    }
}
