internal import ArgumentParser
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// Templates and the pages made of them.
struct TemplateTests {
    /// A wrong name in a template would leave its place empty without an error.
    @Test func `every name in a template exists in its values`() async throws {
        let samples = try Samples()
        var given: [String: Set<String>] = [:]
        for page in try await samples.pages() {
            Self.collect(Sheet(frame: samples.frame(page), page: page), into: &given[page.template, default: []])
        }
        let parts = Set(ConsoleTemplates.texts.values.flatMap(Self.parts))
        #expect(Set(given.keys).union(parts).union(["check"]) == Set(ConsoleTemplates.texts.keys))
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
            if let fields = child.value as? [String: String] { names.formUnion(fields.keys) }
            collect(child.value, into: &names, only: isWanted ? nil : only)
        }
    }

    /// The names a template and its parts read.
    private static func names(of template: String) throws -> Set<String> {
        let text = try #require(ConsoleTemplates.texts[template])
        var names: Set<String> = []
        for tag in tags(of: text) where !"><$/!".contains(tag.first ?? "!") {
            var name = tag.drop { "#^".contains($0) }
            if let open = name.firstIndex(of: "(") { name = name[name.index(after: open)...].dropLast() }
            if name == "." { continue }
            names.formUnion(name.split(separator: ".").map(String.init))
        }
        for part in parts(of: text) { names.formUnion(try Self.names(of: part)) }
        return names
    }

    /// The text between the braces: `#rows`, `>time`, `name`.
    private static func tags(of text: String) -> [Substring] { text.matches(of: /\{\{(.*?)\}\}/).map { $0.1 } }

    /// The parts and parents that a template uses.
    private static func parts(of text: String) -> [String] {
        tags(of: text).filter { "><".contains($0.first ?? " ") }.map { String($0.dropFirst()) }
    }

    /// Mustache leaves a missing part out without an error.
    @Test func `no template lets text through unescaped or lacks a part`() {
        for (name, text) in ConsoleTemplates.texts {
            #expect(!Self.tags(of: text).contains { "{&=".contains($0.first ?? " ") }, "\(name)")
            for part in Self.parts(of: text) { #expect(ConsoleTemplates.texts[part] != nil, "\(name): \(part)") }
        }
    }

    @Test func `no page suggests the storage policy that Apple advises against for sport`() {
        for (name, text) in ConsoleTemplates.texts {
            #expect(!text.contains("mostRecentMessageStored"), "\(name)")
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
        let samples = try Samples()
        var lines: Set<String> = []
        for page in try await samples.pages() {
            let html = templates.html(page, samples.frame(page))
            for part in html.components(separatedBy: #"<code class="command">"#).dropFirst() {
                lines.insert(try #require(part.components(separatedBy: "</code>").first))
            }
        }
        #expect(lines.count > 4)
        for line in lines {
            // A shell reads these characters as they are.
            #expect(line.allSatisfy { $0.isLetter || $0.isNumber || " -._".contains($0) }, "\(line)")
            let words = line.components(separatedBy: " ")
            #expect(words.first == "grandstand")
            #expect(throws: Never.self, "\(line)") { _ = try GrandstandTool.parseAsRoot(Array(words.dropFirst())) }
        }
    }
}
