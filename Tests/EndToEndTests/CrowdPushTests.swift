internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// One broadcast for all: activities that have a channel get it by channel, the others by token.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct CrowdPushTests {
    @Test func `an update and the end also reach a phone without channels, by its update token`() async throws {
        let stage = try await Stage.own()
        let (app, new, old, token) = try await stage.startOnNewAndOld()
        #expect(try await stage.starts().count("confirmed") == 2)

        let goal = try await stage.settled(
            try await stage.broadcast(
                #"{"event": "update", "contentState": {"home": 1}, "alert": {"title": "Goal", "body": "1–0"}}"#))
        #expect(goal.deliveryStates == ["accepted", "accepted"], "\(goal)")
        for fan in [new, old] {
            let card = try await stage.shows(fan, #"{"home": 1}"#)
            #expect(card.alert?.text.contains("Goal") == true)
        }
        // If an activity is started after the goal, its first content has the new score. No phone rings twice.
        let late = try stage.fan("late", "17.5")
        try await late.register(app)
        try await stage.shows(late, #"{"home": 1}"#)
        let lateToken = try stage.simulator.allow(activity: 1, on: late.phone)
        try await late.report(app, token: lateToken)
        try await stage.shows(late, #"{"home": 1}"#)
        #expect(stage.pushes(to: lateToken) <= 1)
        #expect(stage.pushes(to: token) == 1)

        let end = try await stage.settled(
            try await stage.broadcast(#"{"event": "end", "contentState": {"home": 2}}"#))
        #expect(end.deliveryStates == ["accepted", "accepted"], "\(end)")
        for fan in [new, old, late] {
            #expect(try await stage.shows(fan, #"{"home": 2}"#).state == .ended)
        }
        // No score goes back: timestamps rise for each token as they do on the channel.
        for token in [token, lateToken] {
            let timestamps = stage.devicePushes.filter { $0.deviceToken == token }.compactMap(\.timestamp)
            #expect(timestamps == timestamps.sorted())
        }
    }
}
