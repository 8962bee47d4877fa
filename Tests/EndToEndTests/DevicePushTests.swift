internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Starts of an event, judged by the lock screens of its followers.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct DevicePushTests {
    @Test func `each follower's lock screen shows the match once, as the phone's iOS version and language allow`()
        async throws
    {
        let stage = try await Stage.own()
        try await stage.putApp()
        let app = try await stage.appsKey()
        let stranger = Fan.strangersToken()
        let fans = [
            try stage.fan("german") { $0.locale = "de-AT" },
            try stage.fan("two-topics", "18.0") { $0.topics = ["team:rapid", "team:sturm", "league:at1"] },
            try stage.fan("two-types", "26.1") { $0.startTokens["Table"] = $0.token },
            try stage.fan("old", "17.4.1") { $0.locale = "de" },
        ]
        let others = [
            try stage.fan("too-old", "17.1"), try stage.fan("much-too-old", "16.7"),
            try stage.fan("switched-off") { $0.liveActivitiesEnabled = false },
            try stage.fan("other-type") { $0.startTokens = ["Table": $0.token ?? ""] },
        ]
        // A reinstalled app has the same token as before; a neighbour follows another team.
        var former = try stage.fan("reinstalled")
        let reinstalled = former
        former.installation = UUID()
        former.secret = Fan.makeSecret()
        let neighbour = try stage.fan("neighbour") { $0.topics = ["team:austria"] }
        let refused = try stage.fan("refused") { $0.startTokens = [Fan.attributesType: stranger] }
        for fan in fans + others + [former, reinstalled, neighbour, refused] { try await fan.register(app) }
        try await stage.putStartingEvent()

        #expect(try await stage.starts()["state"]?.string == "scheduled")
        let preview = try await stage.api("POST", "/v1/events/\(stage.event)/starts", #"{"dryRun": true}"#)
        #expect(preview.status == 200, "\(preview.text)")
        #expect(preview.json.count("pending") == 6)
        #expect(preview.json.count("followers") == 11)
        #expect(try await stage.starts()["state"]?.string == "scheduled")
        #expect(stage.devicePushes.isEmpty)

        try await stage.startNow()
        for fan in fans + [reinstalled] {
            let card = try await stage.shows(fan, #"{"home": 0}"#)
            #expect(card.attributesType == Fan.attributesType)
            let alert = card.alert?.text ?? ""
            #expect(alert.contains("Anpfiff") == fan.locale.hasPrefix("de"), "\(fan.phone): \(alert)")
        }
        let done = try await stage.started(accepted: 5)
        #expect(done.addsUp, "\(done)")
        #expect(done.count("rejected") == 1)
        #expect(done["byReason"]?["BadDeviceToken"]?.int == 1)
        #expect(done.ineligible("system") == 2)
        #expect(done.ineligible("disabled") == 1)
        // Two followers have no token: `other-type`, and one of the two installations with the same token, because
        // only one of them holds that token.
        #expect(done.ineligible("noToken") == 2)
        for fan in others + [neighbour] { #expect(stage.simulator.lockScreen(of: fan.phone).isEmpty) }
        for fan in fans + [reinstalled] { #expect(stage.pushes(to: fan.token) == 1, "\(fan.phone)") }

        // APNs accepted five starts. Only the apps can tell which cards are shown.
        #expect(done.count("confirmed") == 0)
        try await fans[0].report(app)
        try await fans[0].report(app)
        #expect(try await stage.starts().count("confirmed") == 1)
    }
}
