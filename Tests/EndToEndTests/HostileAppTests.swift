internal import Foundation
internal import Testing

/// An attacker who has the key that ships in the app. ReachMatrixTests test which routes a key opens.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct HostileAppTests {
    @Test func `an installation cannot be read, changed or deleted with another installation's secret`() async throws {
        let stage = try await Stage.own()
        try await stage.putApp()
        let app = try await stage.appsKey()
        let (owner, thief) = (try stage.fan("owner"), try stage.fan("thief"))
        try await owner.register(app)
        try await thief.register(app)
        try await stage.putStartingEvent()
        let known = try await owner.call(app, "GET")
        #expect(known.status == 200)
        let activity = #"{"eventKey": "\#(stage.event)", "attributesType": "Match", "state": "ended"}"#
        let calls: [(method: String, rest: String, body: String?)] = [
            ("PUT", "", #"{"systemVersion": "18", "topics": []}"#), ("GET", "", nil), ("DELETE", "", nil),
            ("PUT", "/activities/1", activity), ("DELETE", "/activities/1", nil),
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
            "GET", "/v1/apps/\(stage.bundleID)/development/installations/\(owner.installation)",
            headers: ["Grandstand-Installation-Secret": owner.secret])
        #expect(elsewhere.slug == "installation-not-found")
        #expect(try await owner.call(app, "GET").text == known.text)
        try await stage.startNow()
        try await stage.shows(owner, #"{"home": 0}"#)
    }
}
