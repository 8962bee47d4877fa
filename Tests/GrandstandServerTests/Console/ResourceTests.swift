internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import JSON
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Pages that are values: what their forms show, and the bodies that forms become.
struct ResourceTests {
    private static let preview = #"{"compact":"x"}"#
    private static let app = #"{"name":"A","teamId":"T","keyId":"K","channelLimit":5,"preview":\#(preview)}"#

    /// The members of a body, the form, the object as it is, and the body.
    private static let bodies: [(any ContractRequest.Type, String, String, String)] = [
        (
            Contract.KeyDraft.self, "name=desk&scope=&scope=organise&scope=operate&bundleIds=",
            "{}", #"{"name":"desk","scopes":["organise","operate"]}"#
        ),
        (
            Contract.KeyDraft.self, "name=a&scope=admin&bundleIds=a.b%2C+c.d%0Ae.f&expiresAt=2026-11-28T14:30",
            "{}", #"{"name":"a","scopes":["admin"],"bundleIds":["a.b","c.d","e.f"],"expiresAt":"2026-11-28T14:30:00Z"}"#
        ),
        (Contract.RotationDraft.self, "overlapSeconds=soon", "{}", #"{"overlapSeconds":"soon"}"#),
        // Members without a field keep their values, and an empty field is left out.
        (Contract.AppDraft.self, "name=B&teamId=T&keyId=K", app, app.replacingOccurrences(of: "A", with: "B")),
        (
            Contract.AppDraft.self,
            "name=A&teamId=T&keyId=K&channelLimit=&production.teamId=&production.keyId=P"
                + "&preview.compact=a%0D%0Ab&preview.expanded=", app,
            #"{"name":"A","teamId":"T","keyId":"K","environments":{"production":{"keyId":"P"}},"#
                + #""preview":{"compact":"a\nb"}}"#
        ),
        // An object for each line, and members whose JSON is typed.
        (
            Contract.EventDraft.self,
            "name=Derby&startsAt=2026-11-28+14:30&channelsOpenBefore=86400&topics=a,+b&defaults.staleAfter=300"
                + "&audiences=a.b+production+noMessageStored%0D%0A+%0D%0Aa.b++production+noMessageStored+de"
                + "&metadata={%22a%22:+1.0}&start={", "{}",
            #"{"name":"Derby","startsAt":"2026-11-28T14:30:00Z","channelsOpenBefore":86400,"audiences":["#
                + #"{"bundleId":"a.b","environment":"production","storagePolicy":"noMessageStored"},"#
                + #"{"bundleId":"a.b","environment":"production","storagePolicy":"noMessageStored","variant":"de"}],"#
                + #""metadata":{"a": 1.0},"topics":["a","b"],"start":"{","defaults":{"staleAfter":300}}"#
        ),
    ]

    @Test(arguments: bodies.indices)
    func `a form becomes the body of its operation`(place: Int) throws {
        let (type, form, present, body) = Self.bodies[place]
        let json = type.shape.json(
            FormFields(form), without: ["bundleId"], keeping: try JSONValue(decoding: present.utf8))
        #expect(json == body)
    }

    @Test func `a cleared field of a patch is null`() {
        let shape = RequestShape.object(
            [.init("startsAt", .time), .init("endsAt", .time), .init("x", .time)], excluding: [])
        let json = shape.json(FormFields("startsAt=2026-11-28T14:30&endsAt="), clears: true)
        #expect(json == #"{"startsAt":"2026-11-28T14:30:00Z","endsAt":null}"#)
    }

    @Test func `every field has the help of openapi.yaml`() throws {
        for action in Resource.all.flatMap(\.actions) where action.presets.isEmpty {
            let guide = OperationGuide(action.operation)
            let inputs = guide.shape?.inputs(of: guide.bodySchema, without: action.hidden) { _ in nil } ?? []
            for input in inputs {
                #expect(input.help?.isEmpty == false, "\(guide.operation.id) \(input.name)")
            }
        }
        let key = Contract.KeyDraft.shape.inputs(of: "KeyDraft", without: ["bundleId"]) { _ in nil }
        #expect(key.map(\.name) == ["name", "scope", "bundleIds", "eventKeyPrefix", "expiresAt"])
        #expect(key[0].isRequired)
        #expect(key[1].choices.map(\.choiceHint)[3] == "Channels, quotas, reconciliations and the audit log.")
    }

    @Test func `the address of a list becomes the query of its operation`() async throws {
        let route = try #require(Resource.auditLog.routes.first)
        var visit = try Samples().visit(
            "/console/audit-log", query: "to=2026-11-22&actor=key:a+b&other=x&from=&cursor=9")
        visit.perform = { call in
            #expect(call.query == ["cursor": "9", "actor": "key:a b", "to": "2026-11-22T00:00:00Z"])
            throw Problem(.forbidden, "")
        }
        await #expect(throws: Problem.self) { try await route.handler(visit) }
    }

    @Test func `text from outside never becomes markup`() async throws {
        let samples = try Samples(text: "<script>\u{202E}\"'")
        let console = try Console()
        for page in try await samples.pages() {
            let html = console.html(samples.frame(page))
            #expect(html.components(separatedBy: "<script").count == 2, "\(page.title)")
            #expect(!html.unicodeScalars.contains("\u{202E}"))
        }
    }
}

/// Resource pages over the API's routes.
@Suite(.database)
struct ResourcePageTests {
    @Test func `a webhook is made, paused, resumed and deleted by its forms`() async throws {
        let world = ConsoleWorld()
        let made = try await world.submit(
            "/console/webhooks", [("url", "https://hooks.example.com/x"), ("topic", "quota.level")])
        let path = String(try #require(made.text.firstMatch(of: /href="(\/console\/webhooks\/[^"]+)"/)?.1))
        for (verb, text) in [("pause", "Resume"), ("resume", "Pause")] {
            #expect(try await world.submit(path + "/" + verb).location == path)
            let page = try await world.get(path).text
            #expect(page.contains(">\(text)</button>") && page.contains("hooks.example.com/x"))
        }
        let deleted = try await world.submit(path + "/delete", [("currentKey", "admin")])
        #expect(deleted.location == "/console/webhooks")
        #expect(try await world.get(path).status == 404)
    }

    @Test func `a refused form says why in the API's words, and keeps what was typed`() async throws {
        let answer = try await ConsoleWorld().submit(
            "/console/apps",
            [("bundleId", "com.example.New"), ("name", "Typed"), ("teamId", "short"), ("keyId", "KEY1234567")])
        #expect(answer.status == 422 && answer.text.contains("10 letters and digits were expected."))
        #expect(answer.text.contains(">Typed</textarea>"))
    }
}

/// The same form sent twice without a script: it is carried out once.
@Suite(.database)
struct RepeatedFormTests {
    private static func secret(_ answer: RouteWorld.Answer) -> String? {
        answer.text.firstMatch(of: /<code class="secret">([^<]+)</).map { String($0.1) }
    }

    @Test func `a new secret is shown once, also if its form is sent twice`() async throws {
        let world = ConsoleWorld()
        let session = try await world.session("admin")
        let form = [("name", "desk"), ("scope", "organise"), ("token", session.formToken())]
        let first = try await world.post("/console/keys", form, in: session)
        let again = try await world.post("/console/keys", form, in: session)
        #expect(Self.secret(first)?.hasPrefix("gs_") == true)
        #expect(again.status == 200 && Self.secret(again) == nil)
        #expect(again.text.contains("The secret was shown once") && !first.text.contains("was shown once"))
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
            ("token", session.formToken()), ("currentKey", "admin"),
            ("overlapSeconds", overlaps ? "3600" : "0"),
        ]
        let path = "/console/keys/\(ConsoleWorld.id(of: "admin"))/rotate"
        let first = try await world.post(path, form, in: session)
        #expect(first.status == 200 && Self.secret(first) != nil)
        let again = try await world.post(path, form, in: session)
        #expect(again.status == 401 && Self.secret(again) == nil)
        #expect(again.text.contains("This session is over") && again.text.contains("Nothing was sent."))
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
            "events/derby/move", ["startsAt": "2026-11-28T15:30", "endsAt": "", "etag": "\"{version}\""],
            ("startsAt", "2026-11-28T15:00")
        ),
        (
            "webhooks/{id}",
            [
                "url": "https://hooks.example.com/y", "topic": "broadcast.settled", "enabled": "true",
                "etag": "\"{version}\"",
            ], ("url", "https://hooks.example.com/z")
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
                select w.id::text as id, w.version as webhooks, e.version as events
                from webhooks w left join events e on true
                """
            ).first)
        let noun = String(path.prefix { $0 != "/" })
        let version = noun == "declare" ? 0 : try row.decode(Int.self, noun)
        let made = ["{id}": try row.decode(String.self, "id"), "{version}": "\(version)"]
        func filled(_ text: String) -> String {
            made.reduce(text) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        }
        let session = try await world.session("admin")
        let token = session.formToken()
        func submit(_ fields: [String: String]) async throws -> RouteWorld.Answer {
            let form = fields.sorted { $0.key < $1.key }.map { ($0.key, filled($0.value)) }
            return try await world.post("/console/" + filled(path), form + [("token", token)], in: session)
        }
        for _ in 0..<2 {
            let answer = try await submit(fields)
            #expect(answer.status == 303, "\(answer.text)")
        }
        let refused = try await submit(fields.merging([other.0: other.1]) { $1 })
        #expect(refused.status == 412)
        #expect(refused.text.contains("was changed or deleted since"), "\(refused.text)")
        // Headers of the API say nothing to people.
        for text in ["If-Match", "If-None-Match"] { #expect(!refused.text.contains(text)) }
    }
}
