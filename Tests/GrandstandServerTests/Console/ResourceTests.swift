internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import JSON
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
    ]

    @Test(arguments: bodies.indices)
    func `a form becomes the body of its operation`(place: Int) throws {
        let (type, form, present, body) = Self.bodies[place]
        var json = JSONWriter()
        _ = type.shape.write(
            FormFields(form), without: ["bundleId"], keeping: try JSONValue(decoding: present.utf8), to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == body)
    }

    @Test func `a cleared field of a patch is null`() {
        let shape = RequestShape.object(
            [.init("startsAt", .time), .init("endsAt", .time), .init("x", .time)], excluding: [])
        var json = JSONWriter()
        _ = shape.write(FormFields("startsAt=2026-11-28T14:30&endsAt="), clears: true, to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"startsAt":"2026-11-28T14:30:00Z","endsAt":null}"#)
    }

    @Test func `every field has the limits of its operation, and the help of openapi.yaml`() throws {
        for action in Resource.all.flatMap(\.actions) where action.fixed.isEmpty {
            let guide = OperationGuide(action.operation)
            let groups = guide.shape?.groups(of: guide.schema, without: action.hidden) { _ in nil } ?? []
            for input in groups.flatMap(\.inputs) {
                #expect(input.help?.isEmpty == false, "\(guide.operation.id) \(input.name)")
            }
            #expect(action.flags.isSubset(of: guide.operation.query))
        }
        let key = try #require(
            Contract.KeyDraft.shape.groups(of: "KeyDraft", without: ["bundleId"], initial: { _ in nil }).first)
        #expect(key.inputs.map(\.name) == ["name", "scope", "bundleIds", "eventKeyPrefix", "expiresAt"])
        #expect(key.inputs[0].longest == 200 && key.inputs[0].isRequired)
        #expect(key.inputs[1].choices.map(\.choiceHint)[3] == "Channels, quotas, reconciliations and the audit log.")
        let rotation = try #require(
            Contract.RotationDraft.shape.groups(of: "RotationDraft", initial: { _ in nil }).first?.inputs.first)
        #expect(rotation.least == 0 && rotation.most == 2_592_000 && rotation.help?.hasSuffix("Empty: 86400.") == true)
    }

    @Test func `the address of a list becomes the query of its operation`() async throws {
        let route = try #require(ResourcePages(resource: .auditLog).routes.first)
        var visit = try Samples().visit(
            "/console/audit-log", query: "to=2026-11-22&actor=key:a+b&other=x&from=&cursor=9")
        visit.perform = { call in
            #expect(call.queryText == "limit=50&cursor=9&actor=key%3Aa%20b&to=2026-11-22T00%3A00%3A00Z")
            throw Problem(.forbidden, "")
        }
        await #expect(throws: Problem.self) { try await route.handler(visit) }
    }

    @Test func `text from outside never becomes markup`() async throws {
        let samples = try Samples(text: "<script>\u{202E}\"'")
        let templates = try ConsoleTemplates()
        for page in try await samples.pages() {
            let html = templates.html(page, samples.frame(page))
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
        let path = String(try #require(made.body.firstMatch(of: /href="(\/console\/webhooks\/[^"]+)"/)?.1))
        for (verb, text) in [("pause", "Resume"), ("resume", "Pause")] {
            #expect(try await world.submit(path + "/" + verb).location == path)
            let page = try await world.get(path).body
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
        #expect(answer.status == 422 && answer.body.contains("10 letters and digits were expected."))
        #expect(answer.body.contains("value=\"Typed\""))
    }
}
