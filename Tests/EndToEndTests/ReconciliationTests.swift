internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Apple's list against the ledger, and channels taken over by hand.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct ReconciliationTests {
    @Test func `a dry run changes nothing, and channels are adopted or deleted only on request`() async throws {
        let stage = try await Stage.own()
        let ours = try await stage.putLiveEvent()
        let channels = "/v1/apps/\(stage.bundleID)/development/channels"
        try await AppleConsole.with(stage.simulator, stage.bundleID) { console in
            let theirs = [
                try await console.create(.noMessageStored), try await console.create(.mostRecentMessageStored),
            ]
            let asked = stage.journal.count
            let dry = try await stage.reconcile(#"{"adopt": true, "deleteUnmanaged": true}"#)
            #expect(dry["applied"]?.bool == false)
            #expect(dry["apple"]?.int == 3)
            #expect(dry["matched"]?.int == 1)
            #expect(Set(dry["unmanaged"]?.items.compactMap { $0["channelId"]?.string } ?? []) == Set(theirs))
            #expect(dry["actions"]?.items.allSatisfy { $0["done"]?.bool == false } == true)
            #expect(stage.journal.dropFirst(asked).map(\.request.method) == ["GET"])
            #expect(try await stage.quota()["unmanaged"]?.int == 2)
            let listed = try await stage.api("GET", channels + "?managed=false").json["items"]?.items ?? []
            #expect(Set(listed.compactMap { $0["channelId"]?.string }) == Set(theirs))

            let adopting = try await stage.reconcile(#"{"apply": true, "adopt": true}"#)
            #expect(adopting["applied"]?.bool == true)
            #expect(adopting["actions"]?.items.map { $0["action"]?.string } == ["adopt", "adopt"])
            let adopted = try await stage.api("GET", channels + "?channelId=\(theirs[1].query)")
                .json["items"]?[0]
            #expect(adopted?["storagePolicy"]?.string == "mostRecentMessageStored")

            let stray = try await console.create()
            let cleaning = try await stage.reconcile(#"{"apply": true, "deleteUnmanaged": true}"#)
            #expect(cleaning["actions"]?.items.map { $0["channelId"]?.string } == [stray])
            #expect(Set(stage.atApple().map(\.id)) == Set(ours + theirs))

            // A reconciliation without a body is a dry run, too.
            let bare = try await stage.api("POST", stage.reconciliations)
            #expect(bare.json["applied"]?.bool == false)

            // Reports are kept, the newest first.
            let reports = try await stage.api("GET", stage.reconciliations).json["items"]?.items ?? []
            #expect(reports.map { $0["id"] } == [bare.json, cleaning, adopting, dry].map { $0["id"] })
            let id = try #require(dry["id"]?.string)
            #expect(try await stage.api("GET", "\(stage.reconciliations)/\(id)").json == dry)
        }
    }

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

extension String {
    /// The text, escaped as a value in a query.
    fileprivate var query: String { addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self }
}
