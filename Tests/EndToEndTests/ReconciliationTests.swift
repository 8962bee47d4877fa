internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Apple's list against the ledger, and channels taken over by hand.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct ReconciliationTests {
    @Test func `the timer finds a lost channel by itself`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_RECONCILE_INTERVAL": "0.2"]) { stage in
            try await stage.putLiveEvent("friendly")
            try await stage.putEvent("derby")
            let lost = try await stage.activeChannels(of: "derby")
            try await AppleConsole.with(stage.simulator) { try await $0.delete(lost[0]) }
            try await until("the event has another channel") { try await stage.activeChannels(of: "derby") != lost }
        }
    }

    /// Tests the remedy that the alarm `capability-off` names.
    @Test func `after the capability was off and on, channels are recreated only on request`() async throws {
        let stage = try await Stage.own()
        let known = [stage.event, stage.event + "-2"]
        try await stage.putApp()
        for key in known { try await stage.putEvent(key) }
        for key in known { try await stage.activeChannels(of: key) }
        let before = Set(stage.atApple().map(\.id))
        stage.simulator.setBroadcastCapability(false, of: stage.bundleID)
        stage.simulator.setBroadcastCapability(true, of: stage.bundleID)
        for body in ["{}", #"{"apply": true}"#] {
            let report = try await stage.reconcile(body)
            #expect(report["alarm"]?.string == "capability-off")
            #expect(report["applied"]?.bool == false)
        }
        #expect(try await stage.quota()["alarm"]?.string == "capability-off")
        for key in known {
            let channels = try await stage.activeChannels(of: key)
            #expect(before.isSuperset(of: channels))
        }

        let report = try await stage.reconcile(#"{"apply": true, "recreate": true}"#)
        #expect(report["applied"]?.bool == true)
        for key in known {
            try await until("\(key) has another channel") {
                let channels = try await stage.activeChannels(of: key)
                return before.isDisjoint(with: channels)
            }
        }
        #expect(stage.atApple().count == known.count)
        #expect(try await stage.quota()["alarm"]?.string == nil)
    }
}
