internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// An event's start: declaration, request, stop and report.
@Suite(.database)
struct StartRouteTests {
    @Test func `a dry run starts nothing, a request does, and a start can be stopped`() async throws {
        let world = RouteWorld()
        let path = "/v1/events/match-1/starts"
        #expect(try await world("GET", path).slug == "event-not-found")
        try await world.rows.put(.sample())
        #expect(try await world("GET", path).slug == "invalid-request")
        var event = try EventSpecification.sample()
        event.start = StartWorld.start(at: world.rows.now + 3_600)
        event.topics = ["team:rapid"]
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
        #expect(try await world.get("/console/events/match-1/start").text.contains("Would get it"))
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
