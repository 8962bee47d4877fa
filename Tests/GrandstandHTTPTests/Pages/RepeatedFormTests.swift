internal import Foundation
internal import Grandstand
internal import JSON
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandHTTP

/// The same form sent twice without a script: the second answer is the same as the first.
struct RepeatedFormTests {
    private static let id = "11111111-2222-4333-8444-555555555555"

    private static func secret(_ answer: ConsoleWorld.Answer) -> String? {
        answer.body.firstMatch(of: /<code class="secret">([^<]+)</).map { String($0.1) }
    }

    /// If the rotation has an overlap, API calls may still use the old key for some time. Without an overlap the old
    /// key is refused at once.
    @Test(arguments: [true, false])
    func `rotating one's own key shows the new secret again to people who know the key`(
        overlaps: Bool
    ) async throws {
        let rotations = Mutex(0)
        var world = ConsoleWorld()
        let session = world.session("admin")
        let id = ConsoleWorld.id(of: "admin")
        let own = try #require(try await world.sessions.validKey(id))
        world.ledger.find = { _ in KeyListing(key: own, lastUsedAt: nil) }
        world.ledger.rotate = { _, _ in
            rotations.withLock { $0 += 1 }
            return IssuedKey(key: own, secret: "gs_\(UUID())")
        }
        let (console, token) = (world, FormToken.text(for: session, now: world.now()))
        func rotate(_ key: String = "admin") async throws -> ConsoleWorld.Answer {
            try await console.post(
                "/console/keys/\(id.uuidString)/rotate", [("token", token), ("currentKey", key)], in: session)
        }
        let first = try await rotate()
        var key = try #require(try await world.sessions.validKey(id))
        key.replacedBy = UUID()
        world.sessions.setKey(id, overlaps ? key : nil)
        let again = try await rotate()
        #expect(again.status == 200 && first.status == 200)
        #expect(Self.secret(again) == Self.secret(first) && Self.secret(first) != nil)
        #expect(rotations.withLock(\.self) == 1)
        // No other session gets the secret. This session gets it only if the form contains the old key in `currentKey`.
        for key in ["", "gs_other"] {
            let other = try await rotate(key)
            #expect(other.status == 401 && Self.secret(other) == nil)
            #expect(other.body.contains(overlaps ? "which was shown once" : "rotated without an overlap"))
            #expect(other.body.contains("Nothing was sent."))
        }
        let foreign = try await world.post(
            "/console/keys/\(id.uuidString)/rotate",
            [("token", FormToken.text(for: SessionSecret(), now: world.now())), ("currentKey", "admin")], in: session)
        #expect(foreign.status == 401 && Self.secret(foreign) == nil)
        #expect(rotations.withLock(\.self) == 1)
    }

    @Test func `an event is declared by the first form and shown by the second`() async throws {
        let declared = Mutex<EventSpecification?>(nil)
        let samples = try Samples()
        var world = ConsoleWorld()
        world.apps.list = { _, _ in Page(items: [], nextCursor: nil) }
        let event: @Sendable (EventSpecification) -> Event = { specification in
            var event = samples.event(.scheduled)
            event.specification = specification
            return event
        }
        world.events.find = { _ in declared.withLock(\.self).map(event) }
        world.events.save = { specification, _, condition in
            try declared.withLock { declared in
                try condition.check(declared.map { _ in 1 })
                declared = specification
            }
            return (event(specification), created: true)
        }
        let form = [
            ("key", "final"), ("name", "Final"), ("startsAt", "2026-11-28T14:30"), ("topics", "b a"),
            ("audiences", "com.example.Stadium production noMessageStored"),
        ]
        let path = "/console/season/declare"
        let first = try await world.submit(path, form, as: "organise")
        #expect(first.status == 303, "\(first.body)")
        let second = try await world.submit(path, form, as: "organise")
        #expect(second.status == 303 && second.location == first.location, "\(second.body)")
        // An event with this key exists already, with other content.
        let other = form.map { $0.0 == "name" ? ("name", "Semi") : $0 }
        let refused = try await world.submit(path, other, as: "organise")
        #expect(refused.status == 412 && refused.body.contains("This name is already used."))
    }

    @Test func `an event is moved by the first form and shown as moved by the second`() async throws {
        var moved = try Samples().event()
        moved.specification.startsAt = RFC3339.date("2026-11-28T14:30:00Z")
        moved.specification.endsAt = nil
        moved.version = 8
        var world = ConsoleWorld()
        world.events.find = { [moved] _ in moved }
        let console = world
        func move(_ time: String) async throws -> ConsoleWorld.Answer {
            try await console.submit(
                "/console/events/derby/move", [("startsAt", time), ("endsAt", ""), ("version", "1")], as: "organise")
        }
        #expect(try await move("2026-11-28T14:30").status == 303)
        #expect(try await move("2026-11-28T15:00").status == 412)
    }

    @Test func `an app is deleted once, and the second form says so, too`() async throws {
        let removed = Mutex(false)
        var world = ConsoleWorld()
        world.apps.remove = { bundleID in
            guard
                !removed.withLock({ removed in
                    defer { removed = true }; return removed
                })
            else {
                throw Problem(.appNotFound, "There is no app \(bundleID).")
            }
        }
        for _ in 0..<2 {
            let answer = try await world.submit(
                "/console/apps/com.example.Stadium/delete", [("currentKey", "admin")])
            #expect(answer.status == 303 && answer.location == "/console/apps", "\(answer.body)")
        }
        #expect(removed.withLock { $0 })
    }

    @Test func `a channel is deleted once, and the second form says so, too`() async throws {
        let begun = Mutex(0)
        var world = ConsoleWorld()
        world.apps.find = { _ in Sample.app() }
        world.channels.begin = { _, _, _ in
            guard
                begun.withLock({ begun in
                    begun += 1; return begun
                }) == 1
            else {
                throw Problem(.channelNotFound, "It is deleted.")
            }
            return Sample.task(.deleting)
        }
        world.channels.find = { _ in nil }
        world.channels.note = { _, _ in Sample.channel(.deleted) }
        world.gateway.delete = { _, _ in .accepted((), .init(requestID: nil)) }
        let place = "/console/apps/com.example.Stadium/production/channels"
        for _ in 0..<2 {
            let answer = try await world.submit(place + "/\(Self.id)/delete", [("currentKey", "admin")])
            #expect(answer.status == 303 && answer.location == place, "\(answer.body)")
        }
        #expect(begun.withLock(\.self) == 2)
    }

    @Test(arguments: [
        (#"{"a": 1, "b": null, "c": []}"#, #"{"a": 1.0, "d": 2}"#, true),
        (#"{"a": {"b": 1}}"#, #"{"a": {"b": 2}}"#, false),
        (#"{"a": "2026-01-01T00:00:00Z"}"#, #"{"a": "2026-01-01T01:00:00.000+01:00"}"#, true),
        (#"{"a": [1, 2]}"#, #"{"a": [2, 1]}"#, true), (#"{"a": [1, 1]}"#, #"{"a": [1, 2]}"#, false),
        (#"{"a": [1]}"#, #"{"a": [1, 2]}"#, false), (#"{"a": "x"}"#, "{}", false),
        (#"{"a": {}}"#, #"{"a": null}"#, true),
        (#"{"a": "1"}"#, #"{"a": 1}"#, false), (#"{"a": true}"#, #"{"a": false}"#, false),
    ])
    func `an existing object counts as declared however its values are written`(
        wanted: String, present: String, contains: Bool
    ) throws {
        let (wanted, present) = try (
            JSONValue(parsing: Array(wanted.utf8)), JSONValue(parsing: Array(present.utf8))
        )
        #expect(present.contains(wanted) == contains)
    }
}
