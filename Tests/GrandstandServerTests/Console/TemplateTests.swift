internal import ArgumentParser
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// Templates and the pages made of them.
struct TemplateTests {
    private static let parts: Set<TemplateName> = [
        .layout, .agenda, .command, .facts, .form, .groups, .input, .option, .pager, .pieces, .refusal, .table, .time,
        .token, .confirmKey, .plot, .bar, .check, .composer, .content, .did, .dots, .effect, .faults, .verdict,
        .matchPlot, .notice,
    ]

    /// A wrong name in a template would leave its place empty without an error.
    @Test func `every name in a template exists in its values`() async throws {
        let samples = try Samples()
        var given: [TemplateName: Set<String>] = [:]
        for page in try await samples.pages() {
            Self.collect(Sheet(frame: samples.frame(page), page: page), into: &given[page.template, default: []])
        }
        #expect(Set(given.keys) == Set(TemplateName.allCases).subtracting(Self.parts))
        // A template asks each piece for the name of every kind (`words`, `link`, …), also of kinds that its page does
        // not contain, and each field of a form for its choices. So each template may use the names of the pieces and
        // choices of all pages.
        var pieces = Piece.kinds
        for page in try await samples.pages() {
            Self.collect(page, into: &pieces, only: Piece.self)
            Self.collect(page, into: &pieces, only: Choice.self)
        }
        for (template, names) in given {
            let unknown = try Self.names(of: template).subtracting(names.union(pieces))
            #expect(unknown.isEmpty, "\(template)")
        }
    }

    /// The names of all stored properties of `value` and of what is in it.
    ///
    /// - Parameter only: collects only names within values of this type; `nil`: all names.
    private static func collect(_ value: Any, into names: inout Set<String>, only: Any.Type? = nil) {
        let isWanted = only == nil || type(of: value) == only
        for child in Mirror(reflecting: value).children {
            if let label = child.label, isWanted { names.insert(label) }
            collect(child.value, into: &names, only: isWanted ? nil : only)
        }
    }

    /// The names a template and its parts read.
    private static func names(of template: TemplateName) throws -> Set<String> {
        let tags = TemplateTags(template.text)
        var names: Set<String> = []
        for tag in tags.tags where !"><$/!".contains(tag.first ?? "!") {
            var name = tag.drop { "#^".contains($0) }
            if let open = name.firstIndex(of: "(") { name = name[name.index(after: open)...].dropLast() }
            if name == "." { continue }
            names.formUnion(name.split(separator: ".").map(String.init))
        }
        for part in tags.parts { names.formUnion(try Self.names(of: try #require(TemplateName(rawValue: part)))) }
        return names
    }

    @Test func `a page that says that something is to be corrected lists it below`() {
        for template in TemplateName.allCases where template.text.contains("{{said}}") {
            #expect(template.text.contains("{{#faults}}"), "\(template)")
        }
    }

    @Test func `no page suggests the storage policy that Apple advises against for sport`() {
        for template in TemplateName.allCases {
            #expect(!template.text.contains("mostRecentMessageStored"), "\(template)")
        }
    }

    @Test func `the demo's server takes the settings of webhooks, and its messages have no pause`() {
        let settings = DemoCommand.settings(of: [
            "GRANDSTAND_WEBHOOK_HTTP": "true", "GRANDSTAND_LANE_INTERVAL": "5", "GRANDSTAND_ROLES": "api",
        ])
        #expect(settings == ["GRANDSTAND_WEBHOOK_HTTP": "true", "GRANDSTAND_LANE_INTERVAL": "0"])
    }

    @Test func `every command a page shows is one the program takes`() async throws {
        let templates = try ConsoleTemplates()
        let samples = try Samples(text: "O'Neill's \"final\"")
        var lines: Set<String> = []
        for page in try await samples.pages() {
            let html = templates.html(page, samples.frame(page))
            for part in html.components(separatedBy: #"<code class="command">"#).dropFirst() {
                let line = try #require(part.components(separatedBy: "</code>").first)
                lines.insert(
                    line.replacingOccurrences(of: "&#39;", with: "'").replacingOccurrences(of: "&quot;", with: "\"")
                        .replacingOccurrences(of: "&amp;", with: "&"))
            }
        }
        #expect(lines.count > 4)
        for line in lines {
            let words = try await Self.words(of: line)
            #expect(words.first == "grandstand")
            #expect(throws: Never.self, "\(line)") { _ = try GrandstandTool.parseAsRoot(Array(words.dropFirst())) }
        }
    }

    /// The words into which a shell splits a command line, after it has processed quotes and backslashes.
    private static func words(of line: String) async throws -> [String] {
        let script = "for word in \(line); do printf '%s\\n' \"$word\"; done"
        let output = try await Program.run(URL(filePath: "/bin/sh"), ["-c", script])
        return output.text.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        ("{{{name}}}", "unescaped"), ("{{&name}}", "unescaped"), ("{{=<% %>=}}", "unescaped"),
        ("{{>nothing}}", "nothing"), ("{{<nothing}}{{/nothing}}", "nothing"), ("{{#rows}}", "does not parse"),
    ])
    func `a template with a mistake is found when it is parsed`(text: String, what: String) throws {
        _ = try ConsoleTemplates()
        let fault = #expect(throws: TemplateFault.self) { try ConsoleTemplates.template("test", text) }
        #expect(fault?.description.contains(what) == true)
    }
}
