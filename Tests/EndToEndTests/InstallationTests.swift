internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// Attackers who have the key that ships in the app. ScopeTests test that the key opens no other route.
@Suite(.timeLimit(.minutes(5)))
struct InstallationTests {
    @Test func `an installation cannot be read, changed or deleted with another installation's secret`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            let (owner, thief) = (try stage.fan("owner"), try stage.fan("thief"))
            try await owner.register(app)
            try await thief.register(app)
            try await stage.putStartingEvent()
            let known = try await owner.call(app, "GET")
            #expect(known.status == 200)
            let activity = #"{"eventKey": "derby", "attributesType": "Match", "state": "ended"}"#
            let calls: [(method: String, rest: String, body: String?)] = [
                ("PUT", "", #"{"systemVersion": "18", "topics": []}"#), ("GET", "", nil), ("DELETE", "", nil),
                ("PUT", "/activities/1", activity), ("DELETE", "/activities/1", nil),
                (
                    "POST", "/receipts",
                    #"{"items": [{"eventKey": "derby", "timestamp": 1, "shownAt": "2026-11-21T20:45:00Z"}]}"#
                ),
            ]
            for call in calls {
                let answer = try await owner.call(app, call.method, call.rest, call.body, secret: thief.secret)
                #expect(answer.status == 403, "\(call.method) \(call.rest): \(answer.text)")
                #expect(answer.slug == "wrong-installation-secret", "\(call.method) \(call.rest)")
                #expect(!answer.text.contains("team:rapid"))
                #expect(!answer.text.contains(owner.token ?? "-"))
            }
            // The owner's secret does not open the same installation in the other environment, or with another app's
            // key.
            let elsewhere = try await app(
                "GET", "/v1/apps/\(Stage.bundleID)/development/installations/\(owner.installation)",
                headers: ["Grandstand-Installation-Secret": owner.secret])
            #expect(elsewhere.slug == "installation-not-found")
            try await stage.putApp("com.example.Other")
            let other = try await stage.caller([.device], app: "com.example.Other")
            #expect(try await owner.call(other, "GET").slug == "forbidden")

            #expect(try await owner.call(app, "GET").text == known.text)
            try await stage.startNow()
            try await stage.shows(owner, #"{"home": 0}"#)
        }
    }

    @Test func `a deleted installation gets no start and no update, and is not counted`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            let (stays, leaves) = (try stage.fan("stays"), try stage.fan("leaves"))
            for fan in [stays, leaves] { try await fan.register(app) }
            #expect(try await leaves.call(app, "DELETE").status == 204)
            #expect(try await leaves.call(app, "DELETE").status == 204)
            #expect(try await leaves.call(app, "GET").slug == "installation-not-found")
            try await stage.putStartingEvent()
            try await stage.startNow()
            try await stage.shows(stays, #"{"home": 0}"#)
            #expect(try await stage.started(accepted: 1).count("followers") == 1)
            #expect(stage.pushes(to: leaves.token) == 0)
            let numbers = try await stage.api("GET", "/v1/apps/\(Stage.bundleID)/production/installations/statistics")
            #expect(numbers.status == 200)
            #expect(!numbers.text.contains(stays.installation.uuidString.lowercased()))
        }
    }
}
