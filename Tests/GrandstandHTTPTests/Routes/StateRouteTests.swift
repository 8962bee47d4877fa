internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandStore
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// `/v1/events/{key}/state` and `/v1/apps/{bundleId}/contents`.
struct StateRouteTests {
    private static let path = "/v1/events/derby/state"
    private static let contents = "/v1/apps/com.example.Stadium/contents"
    private static let type = contents + "/MatchAttributes"

    @Test func `a state without changes gets 200, another gets 202 with its broadcast`() async throws {
        var world = RouteWorld()
        world.outbox.hear = { intake in
            guard intake.report.sequence == 2 else { return nil }
            var broadcast = Broadcast(
                id: UUID(), eventKey: intake.eventKey, event: .update, acceptedAt: RouteWorld.now, sendAt: nil,
                isScheduled: false, deliveries: [], warnings: [])
            (broadcast.outcome, broadcast.rule) = (.rings, 0)
            return broadcast
        }
        let old = try await world(
            "PUT", Self.path, Array(#"{"contentState": {}, "sequence": 1}"#.utf8), as: "gs_organise")
        #expect(old.status == 200)
        #expect(old.text == #"{"outcome":"unchanged"}"#)
        let new = try await world(
            "PUT", Self.path, Array(#"{"contentState": {}, "sequence": 2}"#.utf8), as: "gs_organise")
        #expect(new.status == 202)
        #expect(new.json["outcome"] as? String == "rings")
        #expect(new.json["rule"] as? Int == 0)
        #expect(new.json["source"] as? String == "state")
    }

    @Test func `a content type is declared, shown with its tag, and missing under another name`() async throws {
        try await withRoutes { world in
            world.apps.find = { _ in Sample.app() }
            _ = try await PostgresAppStore(world.database).put(Sample.app(), by: .server)
            let body = #"{"versions": [{"name": "3.2", "schema": {"type": "object"}}]}"#
            let created = try await world("PUT", Self.type, Array(body.utf8), as: "gs_organise")
            #expect(created.status == 201, "\(created.text)")
            let shown = try await world("GET", Self.type, as: "gs_organise")
            #expect(shown.headers[.eTag] != nil && shown.headers[.eTag] == created.headers[.eTag])
            #expect(shown.text.contains(#""check":"warn","versions":[{"name":"3.2","schema":{"type": "object"}}]"#))
            #expect(try await world("GET", Self.type + "2", as: "gs_organise").slug == "content-not-found")
        }
    }
}
