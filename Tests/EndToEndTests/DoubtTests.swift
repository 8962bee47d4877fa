internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// A single refusal by Apple is checked before it counts. Channels of other systems are not taken over. Every alarm is
/// true.
@Suite(.timeLimit(.minutes(5)))
struct DoubtTests {
    private static let message = #"{"event": "update", "contentState": {"n": 1}, "alert": {"title": "Goal"}}"#
    private static let quiet = [
        "GRANDSTAND_RECONCILE_INTERVAL": "0", "GRANDSTAND_RECONCILE_GRACE": "0",
        "GRANDSTAND_APNS_REQUEST_TIMEOUT": "0.5",
    ]

    @Test(arguments: [APNsReason.channelNotRegistered, .badChannelId])
    func `after one false refusal of a broadcast the channel stays and the same message is repeated`(
        _ reason: APNsReason
    ) async throws {
        try await Stage.with(settings: Self.quiet, options: { $0.capitals = .accepted }) { stage in
            let channels = try await stage.putLiveEvent()
            stage.simulator.answerNext(1, with: .refusal(reason)) { $0.isBroadcast }
            let settled = try await stage.settled(try await stage.broadcast(Self.message))
            #expect(settled.deliveryStates == ["accepted"])
            #expect(settled["deliveries"]?[0]?["attempts"]?.int == 2)
            let sent = stage.simulator.journal().map(\.request).filter(\.isBroadcast)
            #expect(sent.count == 2 && sent[0].body == sent[1].body)
            #expect(Set(sent.compactMap { $0[header: "apns-request-id"] }).count == 1)
            try await until("the doubt is gone") {
                let channel = try await stage.api("GET", "/v1/events/derby").json["audiences"]?[0]?["channel"]
                return channel?["reason"]?.string == nil
            }
            let report = try await stage.reconcile(#"{"apply": true}"#)
            #expect(report["actions"]?.items == [])
            #expect(try await stage.activeChannels(of: "derby") == channels)
            #expect(stage.atApple().map(\.id) == channels)
            #expect(!stage.simulator.journal().contains { $0.request.isDeletion })
            #expect(try await stage.audited("channel.missing").isEmpty)
        }
    }

    @Test func `a channel that Apple lost is replaced within seconds of the first refused broadcast`() async throws {
        try await Stage.with(settings: Self.quiet, options: { $0.capitals = .accepted }) { stage in
            try await stage.putLiveEvent("friendly")
            try await stage.putEvent("derby")
            let lost = try await stage.activeChannels(of: "derby")
            try await AppleConsole.with(stage.simulator) { try await $0.delete(lost[0]) }
            let settled = try await stage.settled(try await stage.broadcast(Self.message))
            #expect(settled.deliveryStates == ["rejected"])
            #expect(settled["deliveries"]?[0]?["reason"]?.string == "ChannelNotRegistered")
            let found = try await until("the event has another channel") {
                let channels = try await stage.activeChannels(of: "derby")
                return channels == lost ? nil : channels
            }
            #expect(try await stage.settled(try await stage.broadcast(Self.message)).deliveryStates == ["accepted"])
            #expect(stage.atApple().map(\.id).contains(found[0]))
            #expect(try await stage.audited("channel.missing").map { $0["channelId"]?.string } == lost)
        }
    }

    @Test func `while a creation's outcome is ambiguous, another system's channel is neither used nor deleted`()
        async throws
    {
        try await Stage.with(settings: Self.quiet, options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            let theirs = try await AppleConsole.with(stage.simulator) { try await $0.create() }
            // Before the creation, the server asks Apple for the list of channels, and Apple refuses this request. The
            // answer to the creation is lost.
            stage.simulator.answerNext(1, with: .refusal(.serviceUnavailable)) { $0.isList }
            stage.simulator.dropNext(1) { $0.isCreation }
            try await stage.putEvent("derby")
            let channels = try await stage.activeChannels(of: "derby")
            #expect(channels != [theirs])
            #expect(try await stage.quota()["alarm"]?.string == "ambiguous-creation")
            #expect(try await stage.quota()["unmanaged"]?.int == 2)
            let report = try await stage.reconcile(#"{"apply": true}"#)
            #expect(report["alarm"]?.string == "ambiguous-creation")
            #expect(stage.atApple().map(\.id).contains(theirs))
            #expect(!stage.simulator.journal().contains { $0.request.isDeletion })
            _ = try await stage.reconcile(#"{"apply": true, "adopt": true}"#)
            #expect(try await stage.quota()["alarm"]?.string == nil)
        }
    }

    @Test func `the channel of an unanswered creation is distinguished from another system's channel`() async throws {
        try await Stage.with(settings: Self.quiet, options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            let theirs = try await AppleConsole.with(stage.simulator) { try await $0.create() }
            stage.simulator.dropNext(1) { $0.isCreation }
            try await stage.putEvent("derby")
            let channels = try await stage.activeChannels(of: "derby")
            #expect(channels != [theirs] && stage.atApple().count == 2)
            #expect(try await stage.quota()["alarm"]?.string == nil)
        }
    }

    @Test func `a broadcast refused for the capability raises the alarm everywhere, and an accepted one ends it`()
        async throws
    {
        try await Stage.place(settings: Self.quiet, options: { $0.capitals = .accepted }) { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putLiveEvent()
                simulator.answerNext(1, with: .refusal(.broadcastFeatureNotEnabled)) { $0.isBroadcast }
                let refused = try await stage.settled(try await stage.broadcast(Self.message))
                #expect(refused.deliveryStates == ["rejected"])
                #expect(refused["deliveries"]?[0]?["reason"]?.string == "BroadcastFeatureNotEnabled")
                #expect(try await stage.quota()["alarm"]?.string == "capability-off")
                let doctor = await Doctor(environment: environment, logger: Stage.logger).run(app: nil)
                let check = try #require(doctor.checks.first { $0.name == "alarms" })
                #expect(check.outcome == .failed && check.detail.contains("capability-off"))

                #expect(try await stage.settled(try await stage.broadcast(Self.message)).deliveryStates == ["accepted"])
                #expect(try await stage.quota()["alarm"]?.string == nil)
            }
        }
    }

    @Test func `after a false refusal of a broadcast a new event has its channel within five seconds`() async throws {
        try await Stage.with(settings: Self.quiet, options: { $0.capitals = .accepted }) { stage in
            try await stage.putLiveEvent()
            stage.simulator.answerNext(1, with: .refusal(.broadcastFeatureNotEnabled)) { $0.isBroadcast }
            _ = try await stage.settled(try await stage.broadcast(Self.message))
            #expect(try await stage.quota()["alarm"]?.string == "capability-off")
            let declared = ContinuousClock.now
            try await stage.putEvent("second")
            try await stage.activeChannels(of: "second")
            #expect(declared.duration(to: .now) < .seconds(5))
            // The creation that Apple accepted has ended the alarm.
            #expect(try await stage.quota()["alarm"]?.string == nil)
        }
    }

    @Test func `a creation that was falsely refused is repeated within five seconds`() async throws {
        try await Stage.with(settings: Self.quiet, options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            stage.simulator.answerNext(1, with: .refusal(.broadcastFeatureNotEnabled)) { $0.isCreation }
            let declared = ContinuousClock.now
            try await stage.putEvent("derby")
            try await stage.activeChannels(of: "derby")
            #expect(declared.duration(to: .now) < .seconds(5))
            #expect(stage.simulator.journal().count { $0.request.isCreation } == 2)
            #expect(try await stage.quota()["alarm"]?.string == nil)
        }
    }

    /// Tests the remedy that the alarm `capability-off` names.
    @Test func `after the capability was off and on, recreate gives every event a channel within five seconds`()
        async throws
    {
        try await Stage.with(settings: Self.quiet, options: { $0.capitals = .accepted }) { stage in
            let known = ["derby", "friendly", "final"]
            try await stage.putApp()
            for key in known { try await stage.putEvent(key) }
            for key in known { try await stage.activeChannels(of: key) }
            let before = Set(stage.atApple().map(\.id))
            stage.simulator.setBroadcastCapability(false, of: Stage.bundleID)
            try await stage.putEvent("late")
            // Apple refused this creation several times, so the pause before its next attempt is long by now.
            _ = try await stage.simulator.requests(3) {
                $0.request.isCreation && $0.reason == .broadcastFeatureNotEnabled
            }
            #expect(try await stage.quota()["alarm"]?.string == "capability-off")

            stage.simulator.setBroadcastCapability(true, of: Stage.bundleID)
            let asked = ContinuousClock.now
            let report = try await stage.reconcile(#"{"apply": true, "recreate": true}"#)
            #expect(report["applied"]?.bool == true)
            for key in known + ["late"] {
                try await until("\(key) has a channel that Apple has") {
                    let channels = try await stage.activeChannels(of: key)
                    return before.isDisjoint(with: channels) ? () : nil
                }
            }
            #expect(asked.duration(to: .now) < .seconds(5))
            #expect(stage.atApple().count == 4)
            #expect(try await stage.quota()["alarm"]?.string == nil)
        }
    }

    @Test func `a channel list refused for the capability raises the alarm, and the next list ends it`() async throws {
        try await Stage.with(settings: Self.quiet, options: { $0.capitals = .accepted }) { stage in
            try await stage.putLiveEvent()
            stage.simulator.answerNext(1, with: .refusal(.broadcastFeatureNotEnabled)) { $0.isList }
            let refused = try await stage.api("POST", Stage.reconciliations, "{}")
            #expect(refused.json["apns"]?["reason"]?.string == "BroadcastFeatureNotEnabled")
            #expect(try await stage.quota()["alarm"]?.string == "capability-off")
            _ = try await stage.reconcile("{}")
            #expect(try await stage.quota()["alarm"]?.string == nil)
        }
    }
}
