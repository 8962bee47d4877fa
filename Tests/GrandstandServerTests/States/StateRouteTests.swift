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

struct ContentPreviewTests {
    private static func text(_ template: String, _ content: String) -> String? {
        ContentPreview(.init(compact: template)).rendered(Array(content.utf8))?.compact
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
            ("{{^goals}}no goal{{/goals}}{{goals}}", #"{"goals": []}"#, "no goal"),
            ("{{#by}}by {{by}}{{/by}}{{^by}}nobody{{/by}}", #"{"by": ""}"#, "nobody"),
            ("{{#isOver}}over{{/isOver}}{{^isOver}}on{{/isOver}}", #"{"isOver": false}"#, "on"),
            ("{{#team}}{{name}} {{home}}{{/team}}", #"{"team": {"name": "A"}, "home": 2}"#, "A 2"),
            ("{{! nothing (yet) }}x", "{}", "x"), ("<b>{{a}}</b>", #"{"a": "<i>"}"#, "<b><i></b>"),
        ])
    func `a template is filled with a content`(template: String, content: String, expected: String) {
        #expect(ContentPreview.fault(in: template) == nil)
        #expect(Self.text(template, content) == expected)
    }

    @Test(
        arguments: [
            "ab {{home", "{{#a}}{{/b}}", "{{/a}}", "{{>part}}", "{{=<% %>=}}", "{{% CONTENT_TYPE:HTML}}",
            "{{<layout}}{{/layout}}", "{{$a}}{{/a}}", "{{a b}}", "{{größe}}", "{{uppercased(a)}}", "{{{a}}",
            String(repeating: "ä", count: 1_000) + "a",
        ])
    func `an invalid template is refused, and shows nothing`(text: String) {
        #expect(ContentPreview.fault(in: text)?.contains("A Mustache template") == true)
        #expect(Self.text(text, "{}") == nil)
    }

    /// Nested sections multiply: 150 levels over a thousand elements would be 10⁴⁵⁰ passes. Without the limit, this
    /// test would not end.
    @Test(.timeLimit(.minutes(20)))
    func `work and text are limited for any template and content`() {
        let (open, close) = (String(repeating: "{{#a}}", count: 150), String(repeating: "{{/a}}", count: 150))
        let (list, long) = (String(repeating: "1,", count: 1_000), String(repeating: "ä", count: 600))
        let content = #"{"a": [\#(list)1], "b": "\#(long)"}"#
        #expect(Self.text(open + "{{missing}}" + close, content) == "")
        for text in ["{{#a}}\(String(repeating: "{{b}}", count: 200)){{/a}}", "{{#a}}xxxxxxxxxx{{/a}}", "{{b}}"] {
            #expect((1...1_000).contains(Self.text(text, content)?.count ?? 0))
        }
    }

    @Test func `an app's texts are checked, and without one nothing is shown`() throws {
        let body =
            ##"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1", "##
            + ##""preview": {"compact": "{{a}}", "expanded": "{{#a}}"}}"##
        let problem = #expect(throws: Problem.self) {
            try Contract.AppDraft(body: try JSONValue(parsing: Array(body.utf8)))
        }
        #expect(problem?.errors.map(\.pointer) == ["/preview/expanded"])
        #expect(problem?.errors.first?.detail.contains("line 1, column 7") == true)
        #expect(ContentPreview(.init(compact: "{{a}}")).rendered(nil) == nil)
        #expect(ContentPreview(.init()).rendered(Array("{}".utf8)) == nil)
    }
}
