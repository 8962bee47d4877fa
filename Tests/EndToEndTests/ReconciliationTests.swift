internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Apple's list against the ledger, and channels taken over by hand.
@Suite(.timeLimit(.minutes(5)))
struct ReconciliationTests {
    private static let channels = "/v1/apps/\(Stage.bundleID)/development/channels"
    private static let quiet = ["GRANDSTAND_RECONCILE_INTERVAL": "0", "GRANDSTAND_RECONCILE_GRACE": "0"]

    @Test func `a dry run changes nothing, and channels are adopted or deleted only on request`() async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            let ours = try await stage.putLiveEvent()
            try await AppleConsole.with(stage.simulator) { console in
                let theirs = [
                    try await console.create(.noMessageStored), try await console.create(.mostRecentMessageStored),
                ]
                stage.simulator.clearJournal()
                let dry = try await stage.reconcile(#"{"adopt": true, "deleteUnmanaged": true}"#)
                #expect(dry["applied"]?.bool == false)
                #expect(dry["apple"]?.int == 3)
                #expect(dry["matched"]?.int == 1)
                #expect(Set(dry["unmanaged"]?.items.compactMap { $0["channelId"]?.string } ?? []) == Set(theirs))
                #expect(dry["actions"]?.items.allSatisfy { $0["done"]?.bool == false } == true)
                #expect(stage.simulator.journal().map(\.request.method) == ["GET"])
                #expect(try await stage.quota()["unmanaged"]?.int == 2)
                let listed = try await stage.api("GET", Self.channels + "?managed=false").json["items"]?.items ?? []
                #expect(Set(listed.compactMap { $0["channelId"]?.string }) == Set(theirs))

                let adopting = try await stage.reconcile(#"{"apply": true, "adopt": true}"#)
                #expect(adopting["applied"]?.bool == true)
                #expect(adopting["actions"]?.items.map { $0["action"]?.string } == ["adopt", "adopt"])
                #expect(try await stage.quota()["unmanaged"]?.int == 0)
                let adopted = try await stage.api("GET", Self.channels + "?channelId=\(theirs[1].query)")
                    .json["items"]?[0]
                #expect(adopted?["storagePolicy"]?.string == "mostRecentMessageStored")
                #expect(adopted?["state"]?.string == "active")

                let stray = try await console.create()
                let cleaning = try await stage.reconcile(#"{"apply": true, "deleteUnmanaged": true}"#)
                #expect(cleaning["actions"]?.items.map { $0["channelId"]?.string } == [stray])
                #expect(Set(stage.atApple().map(\.id)) == Set(ours + theirs))

                // A reconciliation without a body is a dry run, too.
                let bare = try await stage.api("POST", Stage.reconciliations)
                #expect(bare.json["applied"]?.bool == false)

                // Reports are kept, the newest first.
                let reports = try await stage.api("GET", Stage.reconciliations).json["items"]?.items ?? []
                #expect(reports.map { $0["id"] } == [bare.json, cleaning, adopting, dry].map { $0["id"] })
                let id = try #require(dry["id"]?.string)
                #expect(try await stage.api("GET", "\(Stage.reconciliations)/\(id)").json == dry)
            }
        }
    }

    @Test func `an unmanaged channel within its grace is not deleted`() async throws {
        try await Stage.with(settings: Self.quiet.merging(["GRANDSTAND_RECONCILE_GRACE": "600"]) { $1 }) { stage in
            try await stage.putLiveEvent()
            try await AppleConsole.with(stage.simulator) { console in
                let stray = try await console.create()
                let report = try await stage.reconcile(#"{"apply": true, "deleteUnmanaged": true}"#)
                #expect(report["actions"]?.items == [])
                #expect(report["notes"]?.items.first?.string?.contains("younger than the grace period") == true)
                #expect(stage.atApple().map(\.id).contains(stray))
            }
        }
    }

    @Test func `a reconciliation reports how many channels its deletion budget left`() async throws {
        try await Stage.with(
            settings: Self.quiet.merging(["GRANDSTAND_RECONCILE_GRACE": "0", "GRANDSTAND_RECONCILE_DELETE_BUDGET": "1"])
            { $1 }
        ) { stage in
            try await stage.putLiveEvent()
            try await AppleConsole.with(stage.simulator) { console in
                for _ in 0..<3 { _ = try await console.create() }
                let report = try await stage.reconcile(
                    #"{"apply": true, "deleteUnmanaged": true}"#)
                #expect(report["actions"]?.items.count == 1)
                #expect(
                    report["notes"]?.items.compactMap(\.string) == [
                        "The budget of 1 deletions is used up; 2 unmanaged channels are left. Run it again, or raise "
                            + "GRANDSTAND_RECONCILE_DELETE_BUDGET."
                    ])
            }
        }
    }

    @Test func `a channel Apple lost is replaced while its event lives, and lookup says so`() async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            let kept = try await stage.putLiveEvent("friendly")
            try await stage.putEvent("derby")
            let lost = try #require(try await stage.activeChannels(of: "derby").first)
            try await AppleConsole.with(stage.simulator) { try await $0.delete(lost) }
            let dry = try await stage.reconcile("{}")
            #expect(dry["missing"]?.items.map { $0["channelId"]?.string } == [lost])
            #expect(try await stage.activeChannels(of: "derby") == [lost])

            let report = try await stage.reconcile(#"{"apply": true}"#)
            #expect(report["actions"]?.items.map { $0["action"]?.string } == ["mark-missing"])
            let found = try await until("lookup has another channel") {
                let answer = try await stage.api("GET", "/v1/lookup/\(Stage.bundleID)/development/derby").json
                return answer["channelId"]?.string == lost ? nil : answer["channelId"]?.string
            }
            #expect(Set(stage.atApple().map(\.id)) == Set(kept + [found]))
            #expect(try await stage.audited("channel.missing").map { $0["channelId"]?.string } == [lost])
        }
    }

    @Test func `the timer finds a lost channel by itself`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_RECONCILE_INTERVAL": "0.2"]) { stage in
            try await stage.putLiveEvent("friendly")
            try await stage.putEvent("derby")
            let lost = try await stage.activeChannels(of: "derby")
            try await AppleConsole.with(stage.simulator) { console in
                for channelID in lost { try await console.delete(channelID) }
            }
            _ = try await until("the event has another channel") {
                let channels = try await stage.activeChannels(of: "derby")
                return channels == lost ? nil : channels
            }
        }
    }

    @Test func `if an app's only channel vanished, it is recreated only on request`() async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            let lost = try await stage.putLiveEvent()
            try await AppleConsole.with(stage.simulator) { console in
                for channelID in lost { try await console.delete(channelID) }
            }
            let report = try await stage.reconcile(#"{"apply": true}"#)
            #expect(report["alarm"]?.string == "capability-off")
            #expect(report["applied"]?.bool == false)
            #expect(report["actions"]?.items.map { $0["action"]?.string } == ["recreate"])
            #expect(try await stage.activeChannels(of: "derby") == lost)
            #expect(try await stage.reconcile(#"{"apply": true, "recreate": true}"#)["applied"]?.bool == true)
            try await until("the event has another channel") {
                try await stage.activeChannels(of: "derby") == stage.atApple().map(\.id)
            }
        }
    }

    @Test func `if all channels vanished, an alarm is raised and they are recreated only on request`() async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            try await stage.putLiveEvent("friendly")
            try await stage.putEvent("derby")
            let before = try await stage.activeChannels(of: "derby")
            // The capability is switched off and on again, so Apple has forgotten every channel.
            stage.simulator.setBroadcastCapability(false, of: Stage.bundleID)
            stage.simulator.setBroadcastCapability(true, of: Stage.bundleID)
            for body in ["{}", #"{"apply": true}"#, #"{"apply": true, "deleteUnmanaged": true}"#] {
                let report = try await stage.reconcile(body)
                #expect(report["alarm"]?.string == "capability-off")
                #expect(report["applied"]?.bool == false)
                #expect(report["actions"]?.items.map { $0["action"]?.string } == ["recreate", "recreate"])
            }
            #expect(try await stage.quota()["alarm"]?.string == "capability-off")
            #expect(try await stage.activeChannels(of: "derby") == before)

            let report = try await stage.reconcile(#"{"apply": true, "recreate": true}"#)
            #expect(report["applied"]?.bool == true)
            _ = try await until("both events have channels again") {
                let channels = try await stage.activeChannels(of: "derby") + stage.activeChannels(of: "friendly")
                return Set(channels) == Set(stage.atApple().map(\.id)) ? channels : nil
            }
            #expect(try await stage.reconcile("{}")["alarm"] == nil)
        }
    }

    @Test(arguments: [
        "{}", "", "not JSON", #"{"channels": {}}"#, #"{"channels": [1]}"#, #"{"channels": ["a""#, "[]",
        #"{"channels": ["\#(String(repeating: "a", count: 5_000))"]}"#,
    ])
    func `a channel list that cannot be read completely changes nothing`(_ body: String) async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            try await stage.putLiveEvent()
            stage.simulator.answerNext(1, with: SimulatorAnswer(status: 200, body: Array(body.utf8))) { $0.isList }
            let answer = try await stage.api(
                "POST", Stage.reconciliations, #"{"apply": true, "deleteUnmanaged": true}"#)
            #expect(answer.status == 504)
            #expect(answer.slug == "apns-unanswered")
            #expect(stage.atApple().count == 1)
            #expect(try await stage.quota()["missing"]?.int == 0)
        }
    }

    @Test(arguments: [APNsReason.tooManyRequests, .internalServerError, .serviceUnavailable])
    func `Apple's refusal of the list is told, and the next run works`(_ reason: APNsReason) async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            try await stage.putLiveEvent()
            stage.simulator.answerNext(1, with: .refusal(reason)) { $0.isList }
            let answer = try await stage.api("POST", Stage.reconciliations, "{}")
            #expect(answer.status >= 500)
            #expect(answer.json["apns"]?["reason"]?.string == reason.rawValue)
            #expect(try await stage.reconcile("{}")["matched"]?.int == 1)
        }
    }

    @Test func `a channel made elsewhere is imported, with the policy Apple says`() async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            try await stage.putApp()
            try await AppleConsole.with(stage.simulator) { console in
                let stored = try await console.create(.mostRecentMessageStored)
                let answer = try await stage.importChannel(#"{"channelId": "\#(stored)", "label": "from the console"}"#)
                #expect(answer.status == 201)
                #expect(answer.json["storagePolicy"]?.string == "mostRecentMessageStored")
                #expect(answer.json["state"]?.string == "active")
                #expect(answer.json["channelId"]?.string == stored)
                #expect(try await stage.importChannel(#"{"channelId": "\#(stored)"}"#).slug == "channel-exists")
                #expect(try await stage.audited("channel.imported").count == 1)
            }
        }
    }

    @Test func `a channel can be imported as the channel of an event that has none yet`() async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            try await stage.putApp()
            let opening = ISO8601DateFormatter().string(from: Date().addingTimeInterval(3_600))
            let put = try await stage.api(
                "PUT", "/v1/events/derby",
                """
                {"name": "Derby", "channelsOpenAt": "\(opening)",
                 "audiences": [\(Stage.audience(.development, .noMessageStored))]}
                """)
            try #require(put.status == 201)
            try await AppleConsole.with(stage.simulator) { console in
                let unfit = try await console.create(.mostRecentMessageStored)
                let refused = try await stage.importChannel(#"{"channelId": "\#(unfit)", "eventKey": "derby"}"#)
                #expect(refused.status >= 400)
                let channelID = try await console.create()
                let imported = try await stage.importChannel(
                    #"{"channelId": "\#(channelID)", "eventKey": "derby"}"#)
                #expect(imported.status == 201, "\(imported.text)")
                #expect(try await stage.activeChannels(of: "derby") == [channelID])
                let lookup = try await stage.api("GET", "/v1/lookup/\(Stage.bundleID)/development/derby").json
                #expect(lookup["channelId"]?.string == channelID)
            }
        }
    }

    @Test func `a channel that cannot be imported is refused, and nothing changes`() async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            try await stage.putApp()
            let other = try await AppleConsole.with(stage.simulator, Stage.bundleID, .production) { console in
                try await console.create()
            }
            for (body, slug) in [
                (#"{"channelId": "\#(other)"}"#, "channel-not-found"),
                (#"{"channelId": "bm90aGluZw=="}"#, "channel-not-found"),
                (#"{"channelId": "not base64!"}"#, "invalid-request"),
                (#"{"channelId": ""}"#, "invalid-request"),
                (#"{"label": "none"}"#, "invalid-request"),
                (#"{"channelId": "bm90aGluZw==", "policy": 1}"#, "unknown-field"),
            ] {
                let answer = try await stage.importChannel(body)
                #expect(answer.slug == slug, "\(body): \(answer.text)")
            }
            #expect(try await stage.api("GET", Self.channels).json["items"]?.items == [])
            #expect(try await stage.quota()["used"]?.int == 0)
        }
    }
}

extension String {
    /// The text, escaped as a value in a query.
    fileprivate var query: String { addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self }
}
