internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Pushes to single tokens, checked on a phone's lock screen.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct PushTests {
    @Test func `a push to a team's own token starts an activity, and others update and end it`() async throws {
        let stage = try await Stage.own()
        try await stage.putApp()
        let anna = "anna-" + stage.event
        let token = try stage.startToken(of: anna)
        let started = try await stage.push(
            """
            {"token": "\(token)", "event": "start", "contentState": {"home": 0}, "attributesType": "Match",
             "attributes": {}, "alert": {"title": "Kick-off"}, "inputPushToken": true}
            """)
        #expect(started["delivery"]?["state"]?.string == "accepted")
        #expect(started["token"]?.string == "…\(token.suffix(6))")
        let update = try #require(stage.simulator.lockScreen(of: anna).first?.updateToken)
        for body in [#""event": "update", "contentState": {"home": 1}"#, #""event": "end""#] {
            let done = try await stage.push(#"{"token": "\#(update)", \#(body)}"#)
            #expect(done["delivery"]?["state"]?.string == "accepted", "\(done)")
        }
        let shown = stage.simulator.lockScreen(of: anna)
        #expect(shown.map { String(decoding: $0.contentState, as: UTF8.self) } == [#"{"home": 1}"#])
        #expect(shown.map(\.state) == [.ended])
        let late = try await stage.api(
            "POST", "/v1/apps/\(stage.bundleID)/development/pushes",
            #"{"token": "\#(update)", "event": "update", "contentState": {}}"#)
        #expect(late.slug == "event-ended")
    }
}

extension Stage {
    /// Adds a phone and returns its push-to-start token.
    fileprivate func startToken(of phone: String) throws -> String {
        let tokens = try simulator.addDevice(phone, in: .development, bundleIDs: [bundleID])
        return try #require(tokens[bundleID.lowercased()])
    }

    /// Sends a push, and waits until nothing more will happen to the push.
    fileprivate func push(_ body: String) async throws -> JSON {
        let answer = try await api("POST", "/v1/apps/\(bundleID)/development/pushes", body)
        try #require(answer.status == 202, "\(answer.text)")
        let id = try #require(answer.json["id"]?.string)
        return try await until("push \(id) is done") {
            let push = try await api("GET", "/v1/pushes/\(id)").json
            return push["state"]?.string == "done" ? push : nil
        }
    }
}
