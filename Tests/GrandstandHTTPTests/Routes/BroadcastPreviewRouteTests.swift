internal import APNsWire
internal import Foundation
internal import Grandstand
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

struct BroadcastPreviewRouteTests {
    @Test func `a preview shows what each audience would get, also in its app's text`() async throws {
        let audience = Audience(bundleID: Sample.stadium, environment: .production, storagePolicy: .noMessageStored)
        var world = RouteWorld()
        world.apps.find = { bundleID in
            App(
                bundleID: bundleID, name: "x", credentials: Credentials(teamID: "TEAM123456", keyID: "KEY1234567"),
                preview: AppPreview(compact: "{{home}} – {{away}}"))
        }
        world.outbox.rehearsal = { intake in
            BroadcastRehearsal(
                event: .update, goesAt: RouteWorld.now, isScheduled: false, expiresAt: RouteWorld.now,
                warnings: ["long"],
                parts: [
                    .init(
                        audience: audience, kind: .channel, payload: intake.request.payload, priority: .powerAware,
                        apnsExpiration: 0, bytes: 70, replaces: [])
                ])
        }
        let body = #"{"event": "update", "contentState": {"home": 1, "away": 0}}"#
        let answer = try await world("POST", "/v1/events/derby/broadcasts/preview", Array(body.utf8), as: "gs_organise")
        #expect(answer.status == 200)
        let entry = try #require((answer.json["audiences"] as? [[String: Any]])?.first)
        #expect((entry["preview"] as? [String: String]) == ["compact": "1 – 0"])
        #expect(entry["limit"] as? Int == 5_120)
        #expect(((entry["payload"] as? [String: Any])?["aps"] as? [String: Any])?["event"] as? String == "update")
        let refused = try await world("POST", "/v1/events/derby/broadcasts/preview", Array("{}".utf8), as: "gs_operate")
        #expect(refused.slug == "forbidden")
    }
}
