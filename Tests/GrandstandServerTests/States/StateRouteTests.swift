internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import JSON
internal import Testing

@testable internal import GrandstandServer

/// `/v1/apps/{bundleId}/contents`.
@Suite(.database)
struct StateRouteTests {
    private static let contents = "/v1/apps/com.example.Stadium/contents"
    private static let type = contents + "/MatchAttributes"

    @Test func `a content type is declared, shown with its tag, and missing under another name`() async throws {
        let world = RouteWorld()
        _ = try await world.rows.apps.put(Sample.app(), by: .server)
        let body = #"{"versions": [{"name": "3.2", "schema": {"type": "object"}}]}"#
        let created = try await world("PUT", Self.type, body, as: "gs_organise")
        #expect(created.status == 201, "\(created.text)")
        let shown = try await world("GET", Self.type, as: "gs_organise")
        #expect(shown.headers[.eTag] != nil && shown.headers[.eTag] == created.headers[.eTag])
        #expect(shown.text.contains(#""check":"warn","versions":[{"name":"3.2","schema":{"type": "object"}}]"#))
        #expect(try await world("GET", Self.type + "2", as: "gs_organise").slug == "content-not-found")
    }
}

struct PreviewTemplateTests {
    private static func text(_ template: String, _ content: String) throws -> String {
        try PreviewTemplate(template).text(of: JSONValue(parsing: Array(content.utf8)))
    }

    @Test(
        arguments: [
            ("{{home}} – {{away}}", #"{"home": 1, "away": 0}"#, "1 – 0"),
            ("{{ home }}–{{{away}}}–{{&minute}}", #"{"home": 1.50, "away": "0", "minute": null}"#, "1.50–0–"),
            ("{{team.name}} {{team.x}}", #"{"team": {"name": "Köln"}}"#, "Köln"),
            (
                "{{#goals}}{{by}} {{minute}}′ {{/goals}}",
                #"{"goals": [{"by": "A", "minute": 3}, {"by": "B", "minute": 9}]}"#, "A 3′ B 9′"
            ),
            ("{{#names}}[{{.}}]{{/names}}", #"{"names": ["a", "b"]}"#, "[a][b]"),
            ("{{^goals}}no goal{{/goals}}", #"{"goals": []}"#, "no goal"),
            ("{{#isOver}}over{{/isOver}}{{^isOver}}on{{/isOver}}", #"{"isOver": false}"#, "on"),
            ("{{#team}}{{name}} {{home}}{{/team}}", #"{"team": {"name": "A"}, "home": 2}"#, "A 2"),
            ("{{! nothing }}x", "{}", "x"), ("{{a}}", #"{"a": {"b": [1, 2]}}"#, #"{"b": [1, 2]}"#),
            ("<b>{{a}}</b>", #"{"a": "<i>"}"#, "<b><i></b>"), ("{ {a} }", "{}", "{ {a} }"),
        ])
    func `a template is filled with a content`(template: String, content: String, expected: String) throws {
        #expect(try Self.text(template, content) == expected)
    }

    @Test(
        arguments: [
            ("ab {{home", 1, 4, "not closed"), ("a\n {{#x}}", 2, 8, "not closed"),
            ("{{#a}}{{/b}}", 1, 10, "opened last"),
            ("{{/a}}", 1, 4, "opened last"), ("{{>part}}", 1, 1, "not supported"),
            ("{{=<% %>=}}", 1, 1, "not supported"), ("{{% CONTENT_TYPE:HTML}}", 1, 1, "not supported"),
            ("{{<layout}}", 1, 1, "not supported"), ("{{a b}}", 1, 5, "ASCII letters"),
            ("{{größe}}", 1, 5, "ASCII letters"), ("{{}}", 1, 1, "expected a name"),
            ("{{uppercased(a)}}", 1, 1, "without ( )"), ("{{a..b}}", 1, 1, "expected a name"),
            ("{{{a}}", 1, 7, "cannot be read"),
        ])
    func `an invalid template is refused with the line and column of the fault`(
        text: String, line: Int, column: Int, hint: String
    ) {
        do throws(PreviewTemplate.Fault) {
            _ = try PreviewTemplate(text)
            Issue.record("\(text) was accepted")
        } catch {
            #expect((error.line, error.column) == (line, column))
            #expect(error.detail.contains(hint), "\(error.detail)")
        }
    }

    @Test func `a template may have at most two thousand bytes`() throws {
        _ = try PreviewTemplate(String(repeating: "ä", count: 1_000))
        #expect(throws: PreviewTemplate.Fault.self) { try PreviewTemplate(String(repeating: "ä", count: 1_000) + "a") }
    }

    /// Nested sections multiply: 150 levels over a thousand elements would be 10⁴⁵⁰ passes. Without the limit, this
    /// test would not end.
    @Test(.timeLimit(.minutes(20)))
    func `work and text are limited for any template and content`() throws {
        func nested(_ tag: String, _ depth: Int = 8) -> String {
            String(repeating: "{{#a}}", count: depth) + tag + String(repeating: "{{/a}}", count: depth)
        }
        let content = #"{"a": [\#(String(repeating: "1,", count: 1_000))1], "b": 1}"#
        let large = String(repeating: "{{{b}}}", count: 200)
        let texts = [try Self.text(nested("{{missing}}", 150), content), try Self.text(nested(large), content)]
        #expect(texts.map(\.utf8.count) == [3, 1_003] && texts.allSatisfy { $0.hasSuffix("…") })
        let long = try Self.text("{{#a}}xxxxxxxxxx{{/a}}", content)
        #expect(long.utf8.count <= 1_003 && long.hasSuffix("…"))
        let budget = PreviewBudget(work: 1_000, pass: 100)
        let text = try JSONValue(parsing: Array(#""\#(String(repeating: "x", count: 600))""#.utf8))
        let value = PreviewValue.shown(text, budget) as? PreviewValue
        #expect([value?.renderText.count, value?.renderText.count] == [600, 0])
        #expect(budget.isSpent && !budget.take(1))
        let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        #expect(try Self.text("{{a}}", #"{"a": \#(deep)}"#) == deep)
        #expect(try Self.text("{{a}}", #"{"a": "\#(String(repeating: "ä", count: 600))"}"#).utf8.count == 1_003)
    }

    @Test func `an app's two texts are read and written as JSON`() throws {
        let body =
            ##"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1", "##
            + ##""preview": {"compact": "{{a}}", "expanded": "{{#a}}"}}"##
        let problem = #expect(throws: Problem.self) {
            try Contract.AppDraft(body: try JSONValue(parsing: Array(body.utf8)))
        }
        #expect(problem?.errors.map(\.pointer) == ["/preview/expanded"])
        #expect(problem?.errors.first?.detail.contains("line 1, column 7") == true)
        let preview = Contract.AppPreview(compact: "{{a}}")
        let read = ContentPreview(preview)
        #expect(read.shown(Array(#"{"a": 1}"#.utf8)) == Contract.RenderedPreview(compact: "1"))
        #expect(read.shown(nil) == nil)
        #expect(ContentPreview(.init()).shown(Array("{}".utf8)) == nil)
    }
}
