internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Changes of events by patches.
@Suite(.database)
struct EventRouteTests {
    private static let audiences =
        #""audiences": [{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"}]"#
    private static let path = "/v1/events/derby"

    /// Runs a test with the routes and a declared event.
    private static func withEvent(_ members: String = #""kind": "cup""#, _ body: (RouteWorld) async throws -> Void)
        async throws
    {
        let world = RouteWorld()
        for app in [Sample.stadium, Sample.other] {
            _ = try await world.rows.apps.put(Sample.app(app), by: .server)
        }
        let answer = try await world("PUT", path, #"{"name": "Derby", \#(audiences), \#(members)}"#)
        #expect(answer.status == 201, "\(answer.text)")
        try await body(world)
    }

    @Test func `a patch changes the members it names, null removes, lists are replaced, and the rest keeps its bytes`()
        async throws
    {
        try await Self.withEvent(
            #""startsAt": "2026-11-21T20:45:00Z", "channelsOpenBefore": 60, "kind": "match", "topics": ["a", "b"], "metadata": {"venue": { "id" : 1.0 }, "round": 3}, "defaults": {"staleAfter": 300, "priority": 5}"#
        ) { world in
            let answer = try await world(
                "PATCH", Self.path,
                #"{"startsAt": "2026-11-22T14:30:00Z", "kind": null, "topics": ["c"], "metadata": {"round": null, "leg": 2}, "defaults": {"priority": null}}"#,
                headers: ["Content-Type": "application/merge-patch+json"])
            #expect(answer.status == 200, "\(answer.text)")
            let draft = try #require(try await world.rows.event("derby")?.draft)
            #expect(draft.name == "Derby" && draft.kind == nil)
            #expect(draft.channelsDueAt == RFC3339.date("2026-11-22T14:29:00Z"))
            #expect(draft.topics == ["c"])
            #expect(draft.metadata?.description == #"{"venue":{ "id" : 1.0 },"leg":2}"#)
            #expect(draft.defaults == Contract.EventDefaults(staleAfter: 300))
            #expect(draft.audiences.count == 1)
            // `channelsOpenAt`, the other way to set when channels open, replaces `channelsOpenBefore`.
            let other = try await world(
                "PATCH", Self.path, #"{"channelsOpenBefore": null, "channelsOpenAt": "2026-11-22T10:00:00Z"}"#)
            #expect(other.status == 200)
            #expect(try await world.rows.event("derby")?.channelsOpenBefore == nil)
        }
    }

    @Test
    func `the result of a patch is checked like a PUT's body, and an unknown name is reported even if it is null`()
        async throws
    {
        try await Self.withEvent(#""startsAt": "2026-11-21T20:45:00Z", "channelsOpenBefore": 60"#) { world in
            let before = try await world.rows.event("derby")
            for (patch, pointer) in [
                (#"{"nmae": "x"}"#, "/nmae"), (#"{"nmae": null}"#, "/nmae"), (#"{"state": "live"}"#, "/state"),
                (#"{"name": null}"#, "/name"), (#"{"endsAt": "2026-11-21T20:45:00Z"}"#, "/endsAt"),
                (#"{"channelsOpenAt": "2026-11-22T10:00:00Z"}"#, "/channelsOpenBefore"),
            ] {
                let answer = try await world("PATCH", Self.path, patch)
                #expect(answer.status == 422, "\(patch)")
                #expect(answer.pointers == [pointer])
            }
            #expect(try await world.rows.event("derby") == before)
        }
    }

    @Test func `a patch with an old version is refused, one without a version is applied to the newest`()
        async throws
    {
        try await Self.withEvent { world in
            let version = try #require(
                try await world.rows.events.event(Sample.derby, now: RouteWorld.now)?.version)
            for tag in ["\"\(version + 1)\"", "\"x\""] {
                let answer = try await world("PATCH", Self.path, #"{"name": "x"}"#, headers: ["If-Match": tag])
                #expect(answer.status == 412 && answer.slug == "version-mismatch")
            }
            let tag = ["If-Match": "\"\(version)\""]
            #expect(try await world("PATCH", Self.path, #"{"name": "x"}"#, headers: tag).status == 200)
            // Another writer is faster, after the patch has read the event.
            let patching = try await world.rows.pool.transaction { connection in
                try await connection.query(
                    "update events set kind = 'match', version = nextval('resource_versions') where key = 'derby'")
                let patching = Task { try await world("PATCH", Self.path, #"{"name": "y"}"#).status }
                try await world.rows.untilSomebodyWaits()
                return patching
            }
            #expect(try await patching.value == 200)
            let event = try await world.rows.event("derby")
            #expect(event?.kind == "match" && event?.name == "y")
            #expect(try await world("PATCH", Self.path, #"{"name": "z"}"#, headers: tag).status == 412)
        }
    }

    @Test func `a patch of a missing event, or of one out of reach, is refused`() async throws {
        try await Self.withEvent { world in
            #expect(try await world("PATCH", "/v1/events/none", "{}").slug == "event-not-found")
            let other = Self.audiences.replacing("Stadium", with: "Other")
            let moved = try await world("PATCH", Self.path, "{\(other)}", as: "gs_stadium")
            #expect(moved.status == 403)
            try await world.rows.put(.sample(audiences: [.sample("com.example.Other")]), as: "derby")
            // Also with `If-Match`, an event of another app is answered like one that does not exist.
            for tag in ["*", "\"99\""] {
                let missing = try await world(
                    "PATCH", "/v1/events/none", "{}", headers: ["If-Match": tag], as: "gs_stadium")
                let shared = try await world("PATCH", Self.path, "{}", headers: ["If-Match": tag], as: "gs_stadium")
                #expect(missing.slug == "event-not-found" && missing.status == 404)
                #expect(shared.slug == missing.slug && shared.detail.replacing("derby", with: "none") == missing.detail)
            }
        }
    }

    @Test func `the deletion of an event sends a final end only on request`() async throws {
        let world = RouteWorld()
        for (query, ends) in [("", 0), ("?end=true", 1), ("?end=false", 0)] {
            try await world.rows.open("e\(ends)\(query.count)", audiences: [.sample("com.example.Stadium")])
            let before = try await world.rows.rows("broadcasts")
            #expect(try await world("DELETE", "/v1/events/e\(ends)\(query.count)" + query).status == 204)
            #expect(try await world.rows.rows("broadcasts") - before == ends)
        }
    }
}
