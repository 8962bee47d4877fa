internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// One broadcast for all: activities that have a channel get it by channel, the others by token.
@Suite(.timeLimit(.minutes(5)))
struct CrowdPushTests {
    @Test func `an update and the end also reach a phone without channels, by its update token`() async throws {
        try await Self.withCrowd { stage, app, new, old, token in
            let goal = try await stage.settled(
                try await stage.broadcast(
                    #"{"event": "update", "contentState": {"home": 1}, "alert": {"title": "Goal", "body": "1–0"}}"#))
            #expect(goal.deliveryStates == ["accepted", "accepted"], "\(goal)")
            for fan in [new, old] {
                let card = try await stage.shows(fan, #"{"home": 1}"#)
                #expect(card.alert.map { String(decoding: $0, as: UTF8.self) }?.contains("Goal") == true)
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

    @Test func `while a push to a token is unanswered, only the newest of the later states follows`() async throws {
        try await Self.withCrowd { stage, app, new, old, token in
            let hold = stage.simulator.hold { $0.deviceToken == token }
            var sent = [try await stage.broadcast(#"{"event": "update", "contentState": {"home": 1}}"#)]
            _ = try await stage.simulator.requests(1) { $0.request.deviceToken == token }
            for home in 2...4 {
                sent.append(try await stage.broadcast(#"{"event": "update", "contentState": {"home": \#(home)}}"#))
            }
            hold.release()
            for fan in [new, old] { try await stage.shows(fan, #"{"home": 4}"#) }
            for id in sent { _ = try await stage.settled(id) }
            let states = stage.devicePushes.filter { $0.deviceToken == token }.compactMap {
                $0.json["aps"]?["content-state"]?["home"]?.int
            }
            #expect(states == [1, 4])
        }
    }

    @Test func `a token reported just before a broadcast gets that broadcast exactly once`() async throws {
        try await Self.withCrowd { stage, app, new, old, token in
            let late = try stage.fan("late", "17.5")
            try await late.register(app)
            try await stage.shows(late, #"{"home": 0}"#)
            let lateToken = try stage.simulator.allow(activity: 1, on: late.phone)
            // A shard of the crowd is being sent to, so a token that joins must wait.
            let hold = stage.simulator.hold { $0.deviceToken == token }
            var sent = [try await stage.broadcast(#"{"event": "update", "contentState": {"home": 1}}"#)]
            _ = try await stage.simulator.requests(1) { $0.request.deviceToken == token }
            try await late.report(app, token: lateToken)
            sent.append(try await stage.broadcast(#"{"event": "update", "contentState": {"home": 2}}"#))
            hold.release()
            try await stage.shows(late, #"{"home": 2}"#)
            sent.append(try await stage.broadcast(#"{"event": "update", "contentState": {"home": 3}}"#))
            try await stage.shows(late, #"{"home": 3}"#)
            for id in sent { _ = try await stage.settled(id) }
            let states = stage.devicePushes.filter { $0.deviceToken == lateToken }.compactMap {
                $0.json["aps"]?["content-state"]?["home"]?.int
            }
            #expect(states == [2, 3])
        }
    }

    @Test func `a dismissed activity gets no push, and a token that APNs does not know is forgotten`() async throws {
        try await Self.withCrowd { stage, app, new, old, token in
            let gone = try stage.fan("gone", "17.5")
            try await gone.register(app)
            try await stage.shows(gone, #"{"home": 0}"#)
            let goneToken = try stage.simulator.allow(activity: 1, on: gone.phone)
            try await gone.report(app, token: goneToken)
            try await old.report(app, state: "dismissed")
            let control = HTTPCaller(url: try #require(stage.simulator.addresses?.controlURL))
            #expect(try await control("DELETE", "/tokens/\(goneToken)").status == 204)
            for home in 1...2 {
                _ = try await stage.settled(
                    try await stage.broadcast(#"{"event": "update", "contentState": {"home": \#(home)}}"#))
                try await stage.shows(new, #"{"home": \#(home)}"#)
            }
            #expect(stage.pushes(to: token) == 0)
            #expect(stage.pushes(to: goneToken) == 1)
        }
    }

    /// Runs `body` after an event was started on a new phone, with a channel, and on an old one. The old phone's owner
    /// allowed the activity, and its update token was reported.
    private static func withCrowd(
        _ body: (_ stage: Stage, _ app: HTTPCaller, _ new: Fan, _ old: Fan, _ token: String) async throws -> Void
    ) async throws {
        try await Stage.with(options: { $0.controlPort = 0 }) { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            let (new, old) = (try stage.fan("new"), try stage.fan("old", "17.5"))
            for fan in [new, old] { try await fan.register(app) }
            try await stage.putStartingEvent()
            try await stage.startNow()
            for fan in [new, old] { try await stage.shows(fan, #"{"home": 0}"#) }
            try await stage.started(accepted: 2)
            let token = try stage.simulator.allow(activity: 1, on: old.phone)
            try await new.report(app)
            try await old.report(app, token: token)
            #expect(try await stage.starts().count("confirmed") == 2)
            try await body(stage, app, new, old, token)
        }
    }
}
