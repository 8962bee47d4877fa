internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Starts of an event, judged by the lock screens of its followers.
@Suite(.timeLimit(.minutes(5)))
struct DevicePushTests {
    @Test func `each follower's lock screen shows the match once, as the phone's iOS version and language allow`()
        async throws
    {
        try await Stage.with { stage in
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
            let preview = try await stage.api("POST", "/v1/events/derby/starts", #"{"dryRun": true}"#)
            #expect(preview.status == 200, "\(preview.text)")
            #expect(preview.json.count("pending") == 6)
            #expect(preview.json.count("followers") == 11)
            #expect(try await stage.starts()["state"]?.string == "scheduled")
            #expect(stage.devicePushes.isEmpty)

            try await stage.startNow()
            for fan in fans + [reinstalled] {
                let card = try await stage.shows(fan, #"{"home": 0}"#)
                #expect(card.attributesType == Fan.attributesType)
                let alert = card.alert.map { String(decoding: $0, as: UTF8.self) } ?? ""
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

            // A system that does not know `input-push-channel` and `input-push-token` gets neither of them. With one of
            // them, it would start no activity.
            let naming = stage.devicePushes.filter { $0.json["aps"]?["input-push-channel"] != nil }
            #expect(
                Set(naming.compactMap(\.deviceToken))
                    == Set([fans[0], fans[1], fans[2], reinstalled].map { $0.token ?? "" } + [stranger]))
            #expect(!stage.devicePushes.contains { $0.json["aps"]?["input-push-token"] != nil })
            let attributes = #"{"home": "Rapid", "away": "Sturm"}"#
            #expect(stage.devicePushes.allSatisfy { $0.text.contains(attributes) })

            // APNs accepted five starts. Only the apps can tell which cards are shown.
            #expect(done.count("confirmed") == 0)
            try await fans[0].report(app)
            try await fans[0].report(app)
            #expect(try await stage.starts().count("confirmed") == 1)
        }
    }

    @Test func `a late follower whose start token changes during its push gets one activity`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            var changing = try stage.fan("changing")
            let first = changing.token
            try await changing.register(app)
            try await stage.putStartingEvent()
            let hold = stage.simulator.hold { $0.deviceToken == first }
            try await stage.startNow()
            _ = try await stage.simulator.requests(1) { $0.request.deviceToken == first }
            let second = Fan.strangersToken()
            changing.startTokens = [Fan.attributesType: second]
            try await changing.register(app)
            hold.release()
            try await stage.shows(changing, #"{"home": 0}"#)
            try await stage.started(accepted: 1)

            // The installation follows no topic for a moment, then one topic again.
            changing.topics = []
            try await changing.register(app)
            changing.topics = ["team:sturm"]
            try await changing.register(app)
            // If APNs refused a start because of its token, the start is sent again to the next token.
            var wrong = try stage.fan("wrong")
            wrong.startTokens = [Fan.attributesType: Fan.strangersToken()]
            try await wrong.register(app)
            try await until("the wrong token is refused") { try await stage.starts().count("rejected") == 1 }
            wrong.startTokens = [Fan.attributesType: wrong.token ?? ""]
            try await wrong.register(app)
            try await stage.shows(wrong, #"{"home": 0}"#)
            let late = try stage.fan("late")
            try await late.register(app)
            try await stage.shows(late, #"{"home": 0}"#)

            let done = try await stage.started(accepted: 3)
            #expect(done.count("followers") == 3)
            #expect(done.count("rejected") == 0)
            #expect(done.addsUp, "\(done)")
            #expect(stage.pushes(to: first) == 1)
            #expect(stage.pushes(to: second) == 0)
            for fan in [changing, wrong, late] { #expect(stage.simulator.lockScreen(of: fan.phone).count == 1) }
        }
    }

    @Test func `a push-to-start has the newest content, waits if there is none, and can be stopped`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            let fan = try stage.fan("fan")
            try await fan.register(app)
            try await stage.putStartingEvent("derby", Stage.startingEvent(content: nil))
            try await stage.startNow()
            try await until("it waits for a content") { try await stage.starts()["state"]?.string == "waiting" }
            #expect(try await stage.api("DELETE", "/v1/events/derby/starts").status == 204)
            for home in 1...2 {
                _ = try await stage.settled(
                    try await stage.broadcast(#"{"event": "update", "contentState": {"home": \#(home)}}"#))
            }
            #expect(try await stage.starts()["state"]?.string == "stopped")
            #expect(try await stage.starts().count("pending") == 0)
            #expect(stage.devicePushes.isEmpty)

            try await stage.startNow()
            try await stage.shows(fan, #"{"home": 2}"#)
            try await stage.started(accepted: 1)
            _ = try await stage.settled(
                try await stage.broadcast(#"{"event": "update", "contentState": {"home": 3}}"#))
            try await stage.shows(fan, #"{"home": 3}"#)
            let late = try stage.fan("late")
            try await late.register(app)
            try await stage.shows(late, #"{"home": 3}"#)

            #expect(try await stage.api("DELETE", "/v1/events/derby/starts").status == 204)
            let tooLate = try stage.fan("too-late")
            try await tooLate.register(app)
            // The start of another event is sent later. If the stopped start still sent a push, that push would have
            // arrived before the push of the other event.
            try await stage.putStartingEvent("cup")
            try await stage.startNow("cup")
            try await stage.shows(tooLate, #"{"home": 0}"#)
            #expect(stage.pushes(to: tooLate.token) == 1)
        }
    }

    @Test func `a late follower's activity has the newest score, and the start's counts add up`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            let early = try stage.fan("early")
            try await early.register(app)
            try await stage.putStartingEvent()
            try await stage.startNow()
            try await stage.shows(early, #"{"home": 0}"#)
            _ = try await stage.settled(
                try await stage.broadcast(#"{"event": "update", "contentState": {"home": 1}}"#))
            let late = try stage.fan("late")
            try await late.register(app)
            for fan in [early, late] { try await stage.shows(fan, #"{"home": 1}"#) }
            try await stage.started(accepted: 2)
            #expect(!stage.devicePushes.contains { $0.deviceToken == late.token && $0.text.contains(#"{"home": 0}"#) })

            _ = try await stage.settled(
                try await stage.broadcast(#"{"event": "end", "contentState": {"home": 2}}"#))
            let tooLate = try stage.fan("too-late")
            try await tooLate.register(app)
            let over = try await stage.starts()
            #expect(over["state"]?.string == "done")
            #expect(over.count("accepted") == 2)
            #expect(over.addsUp, "\(over)")
        }
    }

    @Test func `phones that were offline show the activity with the newest score when they are back`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            let fans = [try stage.fan("tunnel"), try stage.fan("flight"), try stage.fan("sofa")]
            for fan in fans { try await fan.register(app) }
            for fan in fans.prefix(2) { stage.simulator.setOnline(false, device: fan.phone) }
            try await stage.putStartingEvent()
            try await stage.startNow()
            try await stage.shows(fans[2], #"{"home": 0}"#)
            // APNs also accepts pushes for phones that are offline.
            try await stage.started(accepted: 3)
            for fan in fans.prefix(2) { #expect(stage.simulator.lockScreen(of: fan.phone).isEmpty) }

            stage.simulator.setOnline(true, device: fans[0].phone)
            try await stage.shows(fans[0], #"{"home": 0}"#)
            _ = try await stage.settled(
                try await stage.broadcast(#"{"event": "update", "contentState": {"home": 1}}"#))
            stage.simulator.setOnline(true, device: fans[1].phone)
            for fan in fans { try await stage.shows(fan, #"{"home": 1}"#) }
            #expect(stage.devicePushes.count == 3)
        }
    }

    @Test func `an event without a channel starts activities that get a token`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            let fans = [try stage.fan("new"), try stage.fan("old", "17.5")]
            for fan in fans { try await fan.register(app) }
            let audience = Stage.audience(.production, .mostRecentMessageStored).replacing(
                "}", with: #", "delivery": "tokens"}"#)
            let put = try await stage.api("PUT", "/v1/events/derby", Stage.startingEvent([audience]))
            try #require(put.status == 201, "\(put.text)")
            try await stage.startNow()
            for fan in fans { try await stage.shows(fan, #"{"home": 0}"#) }
            #expect(stage.simulator.lockScreen(of: "new").first?.updateToken != nil)
            let asking = stage.devicePushes.filter { $0.json["aps"]?["input-push-token"]?.int == 1 }
            #expect(asking.compactMap(\.deviceToken) == [fans[0].token])
            #expect(stage.simulator.channels(of: Stage.bundleID, in: .production).isEmpty)
        }
    }
}
