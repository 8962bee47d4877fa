internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// An `end` by mistake in the sixtieth minute, taken back ten seconds later: what phones see of it.
@Suite(.timeLimit(.minutes(5)))
struct TakenBackTests {
    private static let mistake = #"{"event": "end", "contentState": {"home": 9}}"#

    @Test func `after a sent end is taken back only phones that missed it continue, with a warning`()
        async throws
    {
        try await Stage.with(options: { $0.controlPort = 0 }) { stage in
            let channels = try await stage.putLiveEvent(
                "final",
                [Stage.audience(.development, .noMessageStored), Stage.audience(.production, .mostRecentMessageStored)])
            let lookups = APNsEnvironment.allCases.map { "/v1/lookup/\(Stage.bundleID)/\($0.rawValue)/final" }
            for (environment, channel) in zip(APNsEnvironment.allCases, channels) {
                for phone in ["fan", "commuter"] {
                    try stage.follow(channel, "\(phone)-\(environment.rawValue)", environment)
                }
            }
            try await stage.send(#"{"event": "update", "contentState": {"home": 1}}"#)
            for environment in APNsEnvironment.allCases {
                #expect(stage.shown("fan-\(environment.rawValue)") == "home 1 active")
                stage.simulator.setOnline(false, device: "commuter-\(environment.rawValue)")
            }
            try await stage.send(Self.mistake)
            for lookup in lookups { try await stage.answers(lookup, 410) }
            try await until("the channels retire") {
                let audiences = try await stage.api("GET", "/v1/events/final").json["audiences"]?.items ?? []
                return audiences.allSatisfy { $0["channel"]?["state"]?.string == "retiring" }
            }
            stage.simulator.advance(by: .seconds(10))

            #expect(try await stage.api("GET", "/v1/events/final").json["reopenedAt"] == nil)
            let reopened = try await stage.api("POST", "/v1/events/final/reopen")
            #expect(reopened.status == 200, "\(reopened.text)")
            #expect(reopened.json["reopenedAt"]?.string == reopened.json["updatedAt"]?.string)
            #expect(reopened.json["state"]?.string == "live")
            #expect(reopened.json["channels"]?.items.map { $0["channel"]?.string } == ["kept", "kept"])
            #expect(reopened.json["warnings"]?.items.count == 2)
            let news = try #require(reopened.json["broadcasts"]?[0]?.string)
            #expect(try await stage.settled(news).deliveryStates == ["accepted", "accepted"])
            for (lookup, channel) in zip(lookups, channels) {
                let answer = try await stage.answers(lookup, 200)
                #expect(answer["channelId"]?.string == channel)
            }
            let content = try await stage.api("GET", lookups[0] + "?include=contentState")
            #expect(content.json["contentState"]?["home"]?.int == 1)

            for (environment, channel) in zip(APNsEnvironment.allCases, channels) {
                // APNs' store has the state, not the end.
                stage.simulator.setOnline(true, device: "commuter-\(environment.rawValue)")
                #expect(stage.shown("commuter-\(environment.rawValue)") == "home 1 active")
                try stage.follow(channel, "late-\(environment.rawValue)", environment)
            }
            try await stage.send(#"{"event": "update", "contentState": {"home": 2}}"#)
            for environment in APNsEnvironment.allCases {
                for phone in ["commuter", "late"] {
                    #expect(stage.shown("\(phone)-\(environment.rawValue)") == "home 2 active")
                }
                // Apple lets nobody bring an ended activity back; a phone that follows again sees the match.
                #expect(stage.shown("fan-\(environment.rawValue)") == "home 9 ended")
            }
            try await stage.send(#"{"event": "end", "contentState": {"home": 3}}"#)
            #expect(stage.shown("commuter-production") == "home 3 ended")
            #expect(try await stage.audited("event.reopened").count == 1)
            #expect(try await stage.audited("event.reopened").first?["actor"]?.string == "key:test")
        }
    }

    @Test func `a reopening cancels an end that still waits, so every phone sees the match go on`() async throws {
        try await Stage.with(options: { $0.controlPort = 0 }) { stage in
            let channel = try #require(try await stage.putLiveEvent("final").first)
            try stage.follow(channel, "fan", .development)
            let hold = stage.simulator.hold { $0.isBroadcast }
            let first = try await stage.broadcast(#"{"event": "update", "contentState": {"home": 1}}"#, to: "final")
            _ = try await stage.sent(1)
            let end = try await stage.broadcast(Self.mistake, to: "final")
            try await stage.answers("/v1/lookup/\(Stage.bundleID)/development/final", 410)
            let reopened = try await stage.api("POST", "/v1/events/final/reopen", "{}")
            #expect(reopened.status == 200, "\(reopened.text)")
            #expect(reopened.json["warnings"]?.items.isEmpty == true)
            try await stage.answers("/v1/lookup/\(Stage.bundleID)/development/final", 200)
            hold.release()
            _ = try await stage.settled(first)
            #expect(try await stage.settled(end)["state"]?.string == "cancelled")
            try await stage.send(#"{"event": "update", "contentState": {"home": 2}}"#)
            #expect(stage.shown("fan") == "home 2 active")
            let kinds = stage.simulator.journal().map { $0.request.json["aps"]?["event"]?.string }
            #expect(!kinds.contains("end"))
        }
    }

    @Test func `a deletion with an end ends the activity, and a cancelled event can be reopened`()
        async throws
    {
        try await Stage.with(options: { $0.controlPort = 0 }) { stage in
            let channel = try #require(try await stage.putLiveEvent("final").first)
            try stage.follow(channel, "fan", .development)
            try await stage.send(#"{"event": "update", "contentState": {"home": 1}}"#)
            #expect(try await stage.api("DELETE", "/v1/events/final?end=true").status == 204)
            _ = try await stage.simulator.lockScreen(of: "fan") { $0.map(\.state) == [.ended] }
            #expect(try await stage.api("GET", "/v1/events/final").json["state"]?.string == "cancelled")
            #expect(try await stage.api("POST", "/v1/events/final/broadcasts", Self.mistake).slug == "event-ended")
            let early = try await stage.api("PATCH", "/v1/events/final", #"{"name": "x"}"#)
            #expect(early.slug == "event-ended" && early.text.contains("reopen"))
            #expect(try await stage.api("POST", "/v1/events/final/reopen").json["state"]?.string == "live")
            let patched = try await stage.api(
                "PATCH", "/v1/events/final", #"{"name": "Final, again"}"#,
                headers: ["Content-Type": "application/merge-patch+json"])
            #expect(patched.status == 200 && patched.json["name"]?.string == "Final, again")
        }
    }
}

extension Stage {
    /// Adds a phone, and starts an activity on the phone, as the phone's app would. The activity follows the channel.
    fileprivate func follow(_ channel: String, _ phone: String, _ environment: APNsEnvironment) throws {
        try simulator.addDevice(phone, in: environment)
        try simulator.startActivity(
            on: phone, of: Stage.bundleID, channelID: channel, contentState: Array(#"{"home": 0}"#.utf8))
    }

    /// What a phone shows, in words.
    fileprivate func shown(_ phone: String) -> String {
        simulator.lockScreen(of: phone).map { activity in
            let state = try? JSONDecoder().decode(JSON.self, from: Data(activity.contentState))
            return "home \(state?["home"]?.int ?? -1) \(activity.state)"
        }.joined(separator: ", ")
    }

    /// Sends a broadcast to the event `final`; returns once APNs has accepted the broadcast.
    fileprivate func send(_ body: String) async throws {
        let done = try await settled(try await broadcast(body, to: "final"))
        #expect(Set(done.deliveryStates) == ["accepted"])
    }

    /// Waits until a lookup answers with this status.
    @discardableResult
    fileprivate func answers(_ lookup: String, _ status: Int) async throws -> JSON {
        try await until("\(lookup) answers \(status)") {
            let answer = try await api("GET", lookup)
            return answer.status == status ? answer.json : nil
        }
    }
}
