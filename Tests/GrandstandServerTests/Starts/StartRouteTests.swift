internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// An event's start: declaration, request, stop and report.
struct StartRouteTests {
    private static let audiences =
        #"[{"bundleId": "com.example.Goal", "environment": "production", "storagePolicy": "noMessageStored"}]"#
    private static let required = #""attributesType": "M", "attributes": {}, "alert": {"title": "t"}"#

    /// The refusal of a declaration that is too long contains the size of the push. From this size the test computes
    /// how many bytes the push has besides the alert's text.
    @Test func `the longest push that APNs accepts is accepted, and one byte more is refused`() async throws {
        func body(_ length: Int) -> [UInt8] {
            let text = String(repeating: "x", count: length)
            return Array(
                #"{"name": "x", "audiences": \#(Self.audiences), "startsAt": "2026-11-21T20:45:00Z", "start": {\#(Self.required), "#
                    .utf8) + Array(#""alertsByLocale": {"de": {"title": "\#(text)"}}}}"#.utf8)
        }
        var world = RouteWorld()
        world.events.save = { _, _, _ in (Sample.event(), created: true) }
        let refused = try await RouteWorld()("PUT", "/v1/events/derby", body(4_096))
        #expect(refused.status == 413)
        #expect(refused.slug == "payload-too-large")
        let size = try #require(refused.json["size"] as? Int)
        let most = 4_096 - (size - 4_096)
        #expect(try await world("PUT", "/v1/events/derby", body(most)).status == 201)
        #expect(try await RouteWorld()("PUT", "/v1/events/derby", body(most + 1)).status == 413)
    }

    @Test func `a dry run starts nothing, a request does, and a start can be stopped`() async throws {
        let asked = Mutex(0)
        let outlooks = Mutex<[StartOutlook]>([])
        var world = RouteWorld()
        world.starts.tell = { _, outlook in
            // The server counts the followers before it requests the start, because the request locks the event.
            #expect(asked.withLock { $0 } == 0)
            outlooks.withLock { $0.append(outlook) }
            return [(try .sample(), StartReport(state: .done, counts: .init()))]
        }
        let dry = try await world("POST", "/v1/events/derby/starts", Array(#"{"dryRun": true}"#.utf8))
        #expect(dry.status == 200)
        world.starts.ask = { _, _ in asked.withLock { $0 += 1 } }
        let started = try await world("POST", "/v1/events/derby/starts")
        #expect(started.status == 202)
        #expect((started.json["by"] as? String)?.hasPrefix("key:") == true)
        #expect(asked.withLock { $0 } == 1)
        #expect(outlooks.withLock { $0 } == [.dryRun, .asked])
        world.starts.halt = { _, _ in }
        #expect(try await world("DELETE", "/v1/events/derby/starts").status == 204)
    }

    @Test func `an event without a start has no report`() async throws {
        var world = RouteWorld()
        world.starts.tell = { _, _ in nil }
        world.events.find = { _ in nil }
        #expect(try await world("GET", "/v1/events/derby/starts").slug == "event-not-found")
        world.events.find = { _ in
            Event(
                specification: try .sample(), state: .live, channels: [], createdAt: RouteWorld.now,
                updatedAt: RouteWorld.now)
        }
        #expect(try await world("GET", "/v1/events/derby/starts").slug == "invalid-request")
    }
}
