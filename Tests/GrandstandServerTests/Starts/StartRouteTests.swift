internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// An event's start: declaration, request, stop and report.
@Suite(.database)
struct StartRouteTests {
    private static let audiences =
        #"[{"bundleId": "com.example.Goal", "environment": "production", "storagePolicy": "noMessageStored"}]"#
    private static let required = #""attributesType": "M", "attributes": {}, "alert": {"title": "t"}"#

    /// The refusal of a declaration that is too long contains the size of the push. From this size the test computes
    /// how many bytes the push has besides the alert's text.
    @Test func `the longest push that APNs accepts is accepted, and one byte more is refused`() async throws {
        func body(_ length: Int) -> String {
            let text = String(repeating: "x", count: length)
            return
                #"{"name": "x", "audiences": \#(Self.audiences), "startsAt": "2026-11-21T20:45:00Z", "start": {\#(Self.required), "#
                + #""alertsByLocale": {"de": {"title": "\#(text)"}}}}"#
        }
        let world = RouteWorld()
        try await world.rows.apps.put(.sample(at: world.rows.now))
        let refused = try await world("PUT", "/v1/events/derby", body(4_096))
        #expect(refused.status == 413)
        #expect(refused.slug == "payload-too-large")
        let size = try #require(refused.json["size"] as? Int)
        let most = 4_096 - (size - 4_096)
        #expect(try await world("PUT", "/v1/events/derby", body(most)).status == 201)
        #expect(try await world("PUT", "/v1/events/derby", body(most + 1)).status == 413)
    }

    @Test func `a dry run starts nothing, a request does, and a start can be stopped`() async throws {
        let world = RouteWorld()
        let path = "/v1/events/match-1/starts"
        #expect(try await world("GET", path).slug == "event-not-found")
        try await world.rows.put(.sample())
        #expect(try await world("GET", path).slug == "invalid-request")
        var event = try EventSpecification.sample()
        event.start = StartWorld.start(at: world.rows.now + 3_600)
        event.topics = [try #require(Topic(rawValue: "team:rapid"))]
        try await world.rows.put(event)
        try await world.rows.provision()
        let dry = try await world("POST", path, #"{"dryRun": true}"#)
        #expect(dry.status == 200 && dry.json["state"] as? String == "scheduled")
        #expect(try await world("GET", path).json["by"] as? String == "grandstand")
        let started = try await world("POST", path)
        #expect(started.status == 202)
        #expect((started.json["by"] as? String)?.hasPrefix("key:") == true)
        #expect(try await world("GET", path).json["by"] as? String == started.json["by"] as? String)
        #expect(try await world("DELETE", path).status == 204)
        let stopped = try await world("GET", path)
        #expect(stopped.json["state"] as? String == "stopped")
        #expect(
            (stopped.json["audiences"] as? [[String: Any]])?.first?["bundleId"] as? String == "com.example.Goal")
    }

    @Test func `the console's buttons start and stop an event's start`() async throws {
        let world = ConsoleWorld()
        var event = try EventSpecification.sample()
        event.start = StartWorld.start(at: world.rows.now + 3_600)
        try await world.rows.put(event)
        #expect(try await world.get("/console/events/match-1/start").body.contains("Would get it"))
        for (button, action) in [("start", Contract.AuditAction.startRequested), ("stop", .startStopped)] {
            let path = "/console/events/match-1/\(button)"
            #expect(try await world.submit(path, as: "lookup").status == 403)
            let session = try await world.session("organise")
            #expect(try await world.post(path, in: session).status == 403)
            #expect(try await world.rows.audited(AuditFilter(action: action)).isEmpty)
            #expect(try await world.submit(path, as: "organise").status == 303)
            #expect(try await world.rows.audited(AuditFilter(action: action)).count == 1)
        }
    }
}
