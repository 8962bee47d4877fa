internal import Grandstand
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// Access to `/v1/events/{key}/stream`, and its beginning. EventStreamWriterTests test the content.
struct StreamRouteTests {
    private static let path = "/v1/events/derby/stream"

    private static func world(_ apps: [BundleID] = [Sample.stadium]) -> RouteWorld {
        var world = RouteWorld()
        world.events.find = { $0 == Sample.derby ? Sample.event(apps) : nil }
        return world
    }

    @Test func `proxies neither cache nor delay a stream`() async throws {
        for secret in ["gs_organise", "gs_stadium"] {
            let answer = try await Self.world()("GET", Self.path, as: secret)
            #expect(answer.status == 200, "\(secret)")
            #expect(answer.headers[.contentType] == "text/event-stream")
            #expect(answer.headers[.cacheControl] == "no-store")
            #expect(answer.headers[.accelBuffering] == "no")
        }
    }

    @Test func `the event must exist, and the key must reach all its audiences`() async throws {
        #expect(try await Self.world()("GET", "/v1/events/none/stream").slug == "event-not-found")
        #expect(try await RouteWorld()("GET", "/v1/events/a%20b/stream").slug == "event-not-found")
        for apps in [[Sample.other], [Sample.stadium, Sample.other]] {
            let answer = try await Self.world(apps)("GET", Self.path, as: "gs_stadium")
            #expect(answer.status == 404)
            #expect(answer.slug == "event-not-found")
        }
    }

    @Test func `if there is no place the answer says why and when to retry`() async throws {
        var world = Self.world()
        world.views = RouteWorld.views(perKey: 0)
        let limited = try await world("GET", Self.path)
        #expect(limited.status == 429)
        #expect(limited.slug == "rate-limited")
        #expect(limited.json["limit"] as? Int == 0)
        #expect(limited.detail.contains("GRANDSTAND_STREAMS_PER_KEY"))
        world.views = RouteWorld.views(streams: 0)
        let full = try await world("GET", Self.path)
        #expect(full.status == 503)
        #expect(full.slug == "stream-unavailable")
        #expect(full.headers[.retryAfter] == "2")
        // HEAD does not count as a stream.
        let head = try await world("HEAD", Self.path)
        #expect(head.status == 200 && head.headers[.contentType] == "text/event-stream")
    }
}
