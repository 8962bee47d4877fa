internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// `/v1/lookup` with an empty cache, so that the database is read. LookupHandlerTests test the cache.
struct LookupRouteTests {
    private static let base = "/v1/lookup/com.example.Stadium/production"
    private static let path = base + "/derby"
    private static let shape =
        #"{"eventKey":"derby","channelId":"abc==","storagePolicy":"noMessageStored","state":"live","#
        + #""startsAt":null,"endsAt":null}"#

    /// Events by their keys: `derby` has a channel, `friendly` has none yet, the quota has no place for `crowded`,
    /// `final` is over.
    private static func world() -> RouteWorld {
        var world = RouteWorld()
        world.lookups.read = { keys in
            var records: [EventKey: [LookupRecord]] = [:]
            for key in keys {
                var record = LookupRecord(
                    topic: "com.example.stadium", environment: .production, storagePolicy: .noMessageStored,
                    channelID: nil, firstUpdateAt: RouteWorld.now)
                let now = RouteWorld.now
                switch key.rawValue {
                case "derby": record.channelID = "abc=="
                case "friendly": break
                case "crowded":
                    record.wait.refusal = .init(reason: "quota-exhausted", nextAttemptAt: now.addingTimeInterval(20))
                case "final": record.endedAt = now
                default: continue
                }
                records[key] = [record]
            }
            return records
        }
        world.events.look = { names, _ in
            var entries: [LookupName: LookupEntry] = [:]
            for name in names where name.key.rawValue == "final" {
                entries[name] = LookupEntry(
                    eventKey: name.key, state: .ended, storagePolicy: .noMessageStored, channelID: "abc==",
                    startsAt: nil, endsAt: nil, contentState: Array(#"{"n": 3}"#.utf8), timestamp: 1_700_000_000)
            }
            for name in names where name.key.rawValue == "derby" {
                entries[name] = LookupEntry(
                    eventKey: name.key, state: .live, storagePolicy: .noMessageStored, channelID: "abc==",
                    startsAt: nil, endsAt: nil, contentState: Array(#"{"n": 1}"#.utf8))
            }
            return entries
        }
        return world
    }

    @Test func `a channel is found with its tag, and a request with that tag gets no body`() async throws {
        for path in [Self.path, Self.path.replacingOccurrences(of: "Stadium", with: "stadium")] {
            let found = try await Self.world()("GET", path, as: "gs_lookup")
            #expect(found.status == 200 && found.text == Self.shape)
            #expect(found.headers[.cacheControl] == "public, max-age=10")
            let tag = try #require(found.headers[.eTag])
            let known = try await Self.world()("GET", path, headers: ["If-None-Match": tag], as: "gs_lookup")
            #expect(known.status == 304 && known.body.isEmpty && known.headers[.eTag] == tag)
        }
    }

    @Test func `the content is included on request`() async throws {
        let answer = try await Self.world()("GET", Self.path + "?include=contentState", as: "gs_lookup")
        #expect(answer.text == Self.shape.dropLast() + #","contentState":{"n": 1}}"#)
    }

    @Test func `an event that is over has its last content, with and without the database`() async throws {
        var world = Self.world()
        let answer = try await world("GET", Self.base + "/final?include=contentState", as: "gs_lookup")
        #expect(answer.status == 410 && answer.slug == "event-ended")
        #expect(answer.text.hasSuffix(#","contentState":{"n": 3},"timestamp":1700000000}"#), "\(answer.text)")
        #expect(try await world("GET", Self.base + "/final", as: "gs_lookup").json["contentState"] == nil)
        world.events.look = { _, _ in throw Problem(.storeUnavailable, "The database is away.") }
        let without = try await world("GET", Self.base + "/final?include=contentState", as: "gs_lookup")
        #expect(without.status == 410 && without.json["contentState"] == nil)
    }

    @Test(
        arguments: [
            ("friendly", 404, "channel-pending", "2", 2), ("crowded", 404, "channel-pending", "20", 10),
            ("final", 410, "event-ended", nil, 10), ("cup", 404, "event-not-found", nil, 5),
        ] as [(String, Int, String, String?, Int)])
    func `a refusal has its reason and the time for caches`(
        key: String, status: Int, slug: String, retryAfter: String?, maxAge: Int
    ) async throws {
        for query in ["", "?include=contentState"] {
            let answer = try await Self.world()("GET", Self.base + "/\(key)" + query, as: "gs_lookup")
            #expect(answer.status == status)
            #expect(answer.slug == slug)
            #expect(answer.headers[.retryAfter] == retryAfter)
            #expect(answer.headers[.cacheControl] == "public, max-age=\(maxAge)")
            #expect(answer.detail.contains(key))
            #expect(answer.detail.contains("the app has no channel left") == (key == "crowded"))
        }
    }

    @Test func `the refusal of an invalid lookup is not cached`() async throws {
        for (path, status) in [(Self.path + "?include=all", 422), (Self.base + "/a%20b", 404)] {
            let answer = try await Self.world()("GET", path, as: "gs_lookup")
            #expect(answer.status == status)
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }

    @Test func `a batch has an answer for each event, with the reason for missing ones`() async throws {
        let body = #"{"eventKeys": ["cup", "derby", "friendly", "final", "no key"]}"#
        let answer = try await Self.world()("POST", Self.base, body, as: "gs_lookup")
        #expect(answer.status == 200)
        #expect(
            answer.text
                == #"{"items":[\#(Self.shape)],"missing":[{"eventKey":"cup","reason":"event-not-found"},"#
                + #"{"eventKey":"friendly","reason":"channel-pending"},{"eventKey":"final","reason":"event-ended"},"#
                + #"{"eventKey":"no key","reason":"event-not-found"}]}"#)
    }

    /// Anybody may have a key for lookups. So the server does not store, or even read, the `Idempotency-Key` that they
    /// send.
    @Test(arguments: ["k", String(repeating: "x", count: 300)])
    func `Idempotency-Key is ignored for lookups`(name: String) async throws {
        let answer = try await Self.world()(
            "POST", Self.base, #"{"eventKeys": ["derby"]}"#, headers: ["Idempotency-Key": name], as: "gs_lookup")
        #expect(answer.status == 200)
        #expect(answer.headers[.idempotentReplayed] == nil)
    }
}
