internal import Foundation
internal import Grandstand
internal import JSON
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// Changes of events by patches.
struct EventRouteTests {
    private static let audiences =
        #""audiences": [{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"}]"#
    private static let path = "/v1/events/derby"

    /// One event in memory. A write changes it.
    private final class StoredEvent: Sendable {
        private let event: Mutex<Event?>
        /// The change of a competing writer. It is made once, just before a write.
        private let rival: Mutex<(@Sendable (inout Event) -> Void)?>

        init(_ event: Event?, rival: (@Sendable (inout Event) -> Void)? = nil) {
            self.event = Mutex(event)
            self.rival = Mutex(rival)
        }

        var current: Event? { event.withLock { $0 } }

        func save(
            _ specification: EventSpecification, _ condition: WriteCondition
        ) throws -> (event: Event, created: Bool) {
            try event.withLock { event in
                let beats = rival.withLock { rival in
                    defer { rival = nil }
                    return rival
                }
                if let beats, var changed = event {
                    beats(&changed)
                    changed.version += 1
                    event = changed
                }
                try condition.check(event?.version)
                let created = event == nil
                let written = Event(
                    specification: specification, state: .scheduled,
                    channels: specification.audiences.map { _ in Audience.ChannelStatus(state: .pending) },
                    createdAt: RouteWorld.now, updatedAt: RouteWorld.now, version: (event?.version ?? 0) + 1)
                event = written
                return (written, created)
            }
        }

        var world: RouteWorld {
            var world = RouteWorld()
            world.events.find = { [self] _ in current }
            world.events.save = { [self] specification, _, condition in try save(specification, condition) }
            return world
        }
    }

    private static func declared(_ members: String) async throws -> StoredEvent {
        let stored = StoredEvent(nil)
        _ = try await stored.world("PUT", path, #"{"name": "Derby", \#(audiences), \#(members)}"#)
        return stored
    }

    @Test func `a patch changes the members it names, null removes, lists are replaced, and the rest keeps its bytes`()
        async throws
    {
        let stored = try await Self.declared(
            #""startsAt": "2026-11-21T20:45:00Z", "channelsOpenBefore": 60, "kind": "match", "topics": ["a", "b"], "metadata": {"venue": { "id" : 1.0 }, "round": 3}, "defaults": {"staleAfter": 300, "priority": 5}"#
        )
        let answer = try await stored.world(
            "PATCH", Self.path,
            #"{"startsAt": "2026-11-22T14:30:00Z", "kind": null, "topics": ["c"], "metadata": {"round": null, "leg": 2}, "defaults": {"priority": null}}"#,
            headers: ["Content-Type": "application/merge-patch+json"])
        #expect(answer.status == 200, "\(answer.text)")
        let specification = try #require(stored.current?.specification)
        #expect(specification.name == "Derby" && specification.kind == nil)
        #expect(specification.opensAt == RFC3339.date("2026-11-22T14:29:00Z"))
        #expect(specification.topics.map(\.rawValue) == ["c"])
        #expect(String(decoding: specification.metadata ?? [], as: UTF8.self) == #"{"venue":{ "id" : 1.0 },"leg":2}"#)
        #expect(specification.defaults == EventDefaults(staleAfter: 300))
        #expect(specification.audiences.count == 1)
        // `channelsOpenAt`, the other way to set when channels open, replaces `channelsOpenBefore`.
        let other = try await stored.world(
            "PATCH", Self.path, #"{"channelsOpenBefore": null, "channelsOpenAt": "2026-11-22T10:00:00Z"}"#)
        #expect(other.status == 200)
        #expect(stored.current?.specification.channelsOpenBefore == nil)
    }

    @Test(arguments: [
        (#"{"nmae": "x"}"#, "/nmae"), (#"{"nmae": null}"#, "/nmae"), (#"{"state": "live"}"#, "/state"),
        (#"{"name": null}"#, "/name"), (#"{"endsAt": "2026-11-21T20:45:00Z"}"#, "/endsAt"),
        (#"{"channelsOpenAt": "2026-11-22T10:00:00Z"}"#, "/channelsOpenBefore"),
    ])
    func `the result of a patch is checked like a PUT's body, and an unknown name is reported even if it is null`(
        patch: String, pointer: String
    ) async throws {
        let stored = try await Self.declared(#""startsAt": "2026-11-21T20:45:00Z", "channelsOpenBefore": 60"#)
        let before = stored.current
        let answer = try await stored.world("PATCH", Self.path, patch)
        #expect(answer.status == 422)
        #expect(answer.pointers == [pointer])
        #expect(stored.current == before)
    }

    @Test func `a patch with an old version is refused, one without a version is applied to the newest`()
        async throws
    {
        let stored = StoredEvent(Sample.event())
        let version = try #require(stored.current?.version)
        for tag in ["\"\(version + 1)\"", "\"x\""] {
            let answer = try await stored.world("PATCH", Self.path, #"{"name": "x"}"#, headers: ["If-Match": tag])
            #expect(answer.status == 412 && answer.slug == "version-mismatch")
        }
        #expect(
            try await stored.world("PATCH", Self.path, #"{"name": "x"}"#, headers: ["If-Match": "\"\(version)\""])
                .status
                == 200)
        let beaten = StoredEvent(Sample.event()) { $0.specification.kind = "match" }
        #expect(try await beaten.world("PATCH", Self.path, #"{"name": "y"}"#).status == 200)
        #expect(beaten.current?.specification.kind == "match" && beaten.current?.specification.name == "y")
        let late = StoredEvent(Sample.event()) { $0.specification.kind = "match" }
        #expect(
            try await late.world("PATCH", Self.path, #"{"name": "y"}"#, headers: ["If-Match": "\"\(version)\""]).status
                == 412)
    }

    @Test func `a patch of a missing event, or of one out of reach, is refused`() async throws {
        #expect(try await StoredEvent(nil).world("PATCH", Self.path, "{}").slug == "event-not-found")
        // Also with `If-Match`, an event of another app is answered like one that does not exist.
        for tag in ["*", "\"99\""] {
            let missing = try await StoredEvent(nil).world(
                "PATCH", Self.path, "{}", headers: ["If-Match": tag], as: "gs_stadium")
            let shared = try await StoredEvent(Sample.event([Sample.stadium, Sample.other])).world(
                "PATCH", Self.path, "{}", headers: ["If-Match": tag], as: "gs_stadium")
            #expect(missing.slug == "event-not-found" && missing.status == 404)
            #expect(shared.slug == missing.slug && shared.detail == missing.detail)
        }
        let other = Self.audiences.replacing("Stadium", with: "Other")
        let moved = try await StoredEvent(Sample.event()).world("PATCH", Self.path, "{\(other)}", as: "gs_stadium")
        #expect(moved.status == 403)
    }

    @Test func `the deletion of an event sends a final end only on request`() async throws {
        let asked = Mutex<[Bool]>([])
        var world = RouteWorld()
        world.events.end = { _, sendsEnd, _ in asked.withLock { $0.append(sendsEnd) } }
        for query in ["", "?end=true", "?end=false"] {
            #expect(try await world("DELETE", Self.path + query).status == 204)
        }
        #expect(asked.withLock { $0 } == [false, true, false])
    }
}
