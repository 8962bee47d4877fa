internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The same form sent twice without a script: it is carried out once.
@Suite(.database)
struct RepeatedFormTests {
    private static func secret(_ answer: ConsoleWorld.Answer) -> String? {
        answer.body.firstMatch(of: /<code class="secret">([^<]+)</).map { String($0.1) }
    }

    @Test func `a new secret is shown once, also if its form is sent twice`() async throws {
        let world = ConsoleWorld()
        let session = try await world.session("admin")
        let form = [("name", "desk"), ("scope", "organise"), ("token", FormToken.text(for: session, now: world.now()))]
        let first = try await world.post("/console/keys", form, in: session)
        let again = try await world.post("/console/keys", form, in: session)
        #expect(Self.secret(first)?.hasPrefix("gs_") == true)
        #expect(again.status == 200 && Self.secret(again) == nil)
        #expect(again.body.contains("The secret was shown once") && !first.body.contains("was shown once"))
        // A form with the same token and another content is a new request, and not a repetition with another content.
        let other = try await world.post("/console/keys", [("name", "stage")] + form.dropFirst(), in: session)
        #expect(Self.secret(other) != nil)
        #expect(try await world.rows.rows("api_keys where name in ('desk', 'stage')") == 2)
    }

    /// If the rotation has an overlap, API calls may still use the old key for some time. Without an overlap the old
    /// key is refused at once.
    @Test(arguments: [true, false])
    func `rotating one's own key ends the session, also if the form is sent twice`(overlaps: Bool) async throws {
        let world = ConsoleWorld()
        let session = try await world.session("admin")
        let form = [
            ("token", FormToken.text(for: session, now: world.now())), ("currentKey", "admin"),
            ("overlapSeconds", overlaps ? "3600" : "0"),
        ]
        let path = "/console/keys/\(ConsoleWorld.id(of: "admin"))/rotate"
        let first = try await world.post(path, form, in: session)
        #expect(first.status == 200 && Self.secret(first) != nil)
        let again = try await world.post(path, form, in: session)
        #expect(again.status == 401 && Self.secret(again) == nil)
        #expect(again.body.contains(overlaps ? "which was shown once" : "rotated without an overlap"))
        #expect(again.body.contains("Nothing was sent."))
        #expect(try await world.rows.rows("api_keys where name = 'test' and prefix <> 'gs_'") == 1)
    }

    /// The address of a form, its fields, and a field that makes it another form. `{id}` is the webhook's ID, and
    /// `{version}` is the version that the form was made from.
    private static let forms: [(String, [String: String], (String, String))] = [
        (
            "declare",
            [
                "key": "derby", "name": "Final", "startsAt": "2026-11-28T14:30",
                "audiences": "com.example.Stadium production noMessageStored",
            ], ("name", "Semi")
        ),
        (
            "events/derby/move", ["startsAt": "2026-11-28T15:30", "endsAt": "", "version": "{version}"],
            ("startsAt", "2026-11-28T15:00")
        ),
        (
            "webhooks/{id}",
            [
                "url": "https://hooks.example.com/y", "topic": "broadcast.settled", "enabled": "true",
                "etag": "\"{version}\"",
            ], ("url", "https://hooks.example.com/z")
        ),
        (
            "apps/com.example.Stadium",
            ["name": "Bowl", "teamId": "TEAM123456", "keyId": "KEY1234567", "etag": "\"{version}\""],
            ("name", "Arena")
        ),
    ]

    @Test(arguments: forms)
    func `a form sent twice succeeds, and another one based on an old version is refused`(
        path: String, fields: [String: String], other: (String, String)
    ) async throws {
        let world = ConsoleWorld()
        _ = try await world.rows.apps.put(Sample.app(), by: .server)
        if !path.hasSuffix("declare") {
            _ = try await world.submit("/console/declare", Self.forms[0].1.map { ($0.key, $0.value) })
        }
        _ = try await world.submit(
            "/console/webhooks", [("url", "https://hooks.example.com/x"), ("topic", "broadcast.settled")])
        let row = try #require(
            try await world.database.query(
                """
                select w.id::text as id, w.version as webhooks, a.version as apps, e.version as events
                from webhooks w, apps a left join events e on true
                """
            ).first)
        let noun = String(path.prefix { $0 != "/" })
        let version = noun == "declare" ? 0 : try row.decode(Int.self, noun)
        let made = ["{id}": try row.decode(String.self, "id"), "{version}": "\(version)"]
        func filled(_ text: String) -> String {
            made.reduce(text) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        }
        let session = try await world.session("admin")
        let token = FormToken.text(for: session, now: world.now())
        func submit(_ fields: [String: String]) async throws -> ConsoleWorld.Answer {
            let form = fields.sorted { $0.key < $1.key }.map { ($0.key, filled($0.value)) }
            return try await world.post("/console/" + filled(path), form + [("token", token)], in: session)
        }
        for _ in 0..<2 {
            let answer = try await submit(fields)
            #expect(answer.status == 303, "\(answer.body)")
        }
        let refused = try await submit(fields.merging([other.0: other.1]) { $1 })
        #expect(refused.status == 412)
        let words = path.hasSuffix("declare") ? "This name is already used." : "It was changed meanwhile"
        #expect(refused.body.contains(words), "\(refused.body)")
        // Headers of the API say nothing to people, and the same form would be refused again.
        for text in ["If-Match", "If-None-Match", "Send again"] { #expect(!refused.body.contains(text)) }
    }

    @Test(arguments: [
        ("apps/com.example.Other", "apps"), ("webhooks/11111111-2222-4333-8444-555555555555", "webhooks"),
        (
            "apps/com.example.Stadium/production/channels/11111111-2222-4333-8444-555555555555",
            "apps/com.example.Stadium/production/channels"
        ),
    ])
    func `a deletion of what is deleted already succeeds`(path: String, list: String) async throws {
        let world = ConsoleWorld()
        _ = try await world.rows.apps.put(Sample.app(), by: .server)
        let answer = try await world.submit("/console/\(path)/delete", [("currentKey", "admin")])
        #expect(answer.status == 303 && answer.location == "/console/" + list, "\(answer.body)")
    }
}
