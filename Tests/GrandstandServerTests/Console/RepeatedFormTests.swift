internal import Foundation
internal import Grandstand
internal import JSON
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// The same form sent twice without a script: it is carried out once.
struct RepeatedFormTests {
    private static func secret(_ answer: ConsoleWorld.Answer) -> String? {
        answer.body.firstMatch(of: /<code class="secret">([^<]+)</).map { String($0.1) }
    }

    @Test func `a new secret is shown once, also if its form is sent twice`() async throws {
        var world = ConsoleWorld()
        let session = world.session("admin")
        let key = try #require(try await world.sessions.validKey(ConsoleWorld.id(of: "admin")))
        world.ledger.create = { _ in IssuedKey(key: key, secret: "gs_\(UUID())") }
        let form = [("name", "desk"), ("scope", "organise"), ("token", FormToken.text(for: session, now: world.now()))]
        let first = try await world.post("/console/keys", form, in: session)
        let again = try await world.post("/console/keys", form, in: session)
        #expect(Self.secret(first)?.hasPrefix("gs_") == true)
        #expect(again.status == 200 && Self.secret(again) == nil)
        #expect(again.body.contains("The secret was shown once") && !first.body.contains("was shown once"))
    }

    /// If the rotation has an overlap, API calls may still use the old key for some time. Without an overlap the old
    /// key is refused at once.
    @Test(arguments: [true, false])
    func `rotating one's own key ends the session, also if the form is sent twice`(overlaps: Bool) async throws {
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
        let form = [("token", FormToken.text(for: session, now: world.now())), ("currentKey", "admin")]
        let path = "/console/keys/\(id.uuidString)/rotate"
        let first = try await world.post(path, form, in: session)
        #expect(first.status == 200 && Self.secret(first) != nil)
        var key = own
        key.replacedBy = UUID()
        world.sessions.setKey(id, overlaps ? key : nil)
        let again = try await world.post(path, form, in: session)
        #expect(again.status == 401 && Self.secret(again) == nil)
        #expect(again.body.contains(overlaps ? "which was shown once" : "rotated without an overlap"))
        #expect(again.body.contains("Nothing was sent."))
        #expect(rotations.withLock(\.self) == 1)
    }

    private static let id = "11111111-2222-4333-8444-555555555555"

    /// A world in which somebody else has written each object since the form was made. Each object has the values of
    /// the forms below, or is deleted.
    private static func overtaken() -> ConsoleWorld {
        var world = ConsoleWorld()
        var event = Sample.event()
        event.specification.name = "Final"
        event.specification.startsAt = RFC3339.date("2026-11-28T14:30:00Z")
        event.version = 8
        world.apps.list = { _, _ in Page(items: [], nextCursor: nil) }
        world.apps.find = { _ in Sample.app() }
        world.apps.save = { _, _ in throw Problem(.versionMismatch, "Somebody was faster.") }
        world.apps.remove = { throw Problem(.appNotFound, "There is no app \($0).") }
        world.events.find = { [event] _ in event }
        world.events.save = { _, _, condition in
            try condition.check(8)
            throw Unasked()
        }
        world.webhooks.find = { _ in Sample.webhook() }
        world.webhooks.save = { _, _, _ in throw Problem(.versionMismatch, "Somebody was faster.") }
        world.webhooks.remove = { _, _ in false }
        world.channels.begin = { _, _, _ in throw Problem(.channelNotFound, "It is deleted.") }
        world.channels.find = { _ in nil }
        return world
    }

    /// The address of a form, its fields, and a field that makes it another form.
    private static let forms: [(String, [String: String], (String, String))] = [
        (
            "declare",
            [
                "key": "derby", "name": "Final", "startsAt": "2026-11-28T14:30",
                "audiences": "com.example.Stadium production noMessageStored",
            ], ("name", "Semi")
        ),
        (
            "events/derby/move", ["startsAt": "2026-11-28T14:30", "endsAt": "", "version": "1"],
            ("startsAt", "2026-11-28T15:00")
        ),
        (
            "webhooks/\(id)",
            ["url": "https://hooks.example.com/x", "topic": "broadcast.settled", "enabled": "true", "etag": "\"7\""],
            ("url", "https://hooks.example.com/y")
        ),
        (
            "apps/com.example.Stadium",
            ["name": "Stadium", "teamId": "TEAM123456", "keyId": "KEY1234567", "etag": "\"3\""], ("name", "Arena")
        ),
    ]

    @Test(arguments: forms)
    func `a form sent twice succeeds, and another one based on an old version is refused`(
        path: String, fields: [String: String], other: (String, String)
    ) async throws {
        let world = Self.overtaken()
        let path = "/console/" + path
        func submit(_ fields: [String: String]) async throws -> ConsoleWorld.Answer {
            try await world.submit(path, fields.map { ($0.key, $0.value) })
        }
        let second = try await submit(fields)
        #expect(second.status == 303, "\(second.body)")
        let refused = try await submit(fields.merging([other.0: other.1]) { $1 })
        #expect(refused.status == 412)
        let words = path.hasSuffix("declare") ? "This name is already used." : "It was changed meanwhile"
        #expect(refused.body.contains(words), "\(refused.body)")
        // Headers of the API say nothing to people, and the same form would be refused again.
        for text in ["If-Match", "If-None-Match", "Send again"] { #expect(!refused.body.contains(text)) }
    }

    @Test(arguments: [
        ("apps/com.example.Stadium", "apps"), ("webhooks/\(id)", "webhooks"),
        ("apps/com.example.Stadium/production/channels/\(id)", "apps/com.example.Stadium/production/channels"),
    ])
    func `a deletion sent twice succeeds`(path: String, list: String) async throws {
        let answer = try await Self.overtaken().submit("/console/\(path)/delete", [("currentKey", "admin")])
        #expect(answer.status == 303 && answer.location == "/console/" + list, "\(answer.body)")
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
