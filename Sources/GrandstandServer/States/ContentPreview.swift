internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Mustache

/// An app's templates, which show its contents to people as plain text.
struct ContentPreview: Sendable {
    private let compact: MustacheTemplate?
    private let expanded: MustacheTemplate?

    /// A template that cannot be parsed shows nothing. An app may still have one from an earlier release.
    init(_ preview: Contract.AppPreview) {
        compact = preview.compact.flatMap { try? Self.template($0) }
        expanded = preview.expanded.flatMap { try? Self.template($0) }
    }

    /// - Parameter contentState: JSON; other text shows nothing.
    func rendered(_ contentState: [UInt8]?) -> Contract.RenderedPreview? {
        guard compact != nil || expanded != nil, let content = contentState.flatMap({ try? JSONValue(parsing: $0) })
        else { return nil }
        func text(_ template: MustacheTemplate) -> String {
            let text = template.render(PreviewList.value(content, PreviewList.Passes()))
            return String(text.prefix(1_000)).trimmed
        }
        return Contract.RenderedPreview(compact: compact.map(text), expanded: expanded.map(text))
    }

    /// Partials, functions, other delimiters and pragmas are refused. Nothing is escaped, because the result is plain text.
    private static func template(_ text: String) throws -> MustacheTemplate {
        guard text.utf8.count <= 2_000, !text.contains(/\{\{(\s*[<>$=%]|[^}!]*\()/) else { throw Unsupported() }
        return try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}\n" + text)
    }

    private struct Unsupported: Error {}

    /// Why a text is not a template; `nil`: the text is a template, or there is no text.
    static func fault(in text: String?) -> String? {
        let rule = "A Mustache template of names, sections and comments was expected, of at most 2,000 bytes."
        do {
            _ = try text.map(template)
            return nil
        } catch let error as MustacheTemplate.ParserError {
            // The parsed text begins with the line of the pragma.
            return "\(rule) See line \(error.context.lineNumber - 1), column \(error.context.columnNumber)."
        } catch { return rule }
    }
}

/// A list in a content, as Mustache reads it. A value that is empty, too, is a list without elements: Mustache skips its
/// sections and shows nothing for its name.
private struct PreviewList: MustacheSequence, MustacheParent, MustacheCustomRenderable {
    /// The passes of sections that one filling may still make. Without a limit, nested sections would multiply them.
    final class Passes { var left = 300 }

    var elements: [JSONValue] = []
    let passes: Passes

    /// A value of a type that Mustache treats correctly. A long text is cut, because a template may repeat it.
    static func value(_ value: JSONValue, _ passes: Passes) -> Any {
        switch value.kind {
        case .bool(let flag): flag
        case .number(let text), .string(let text):
            text.isEmpty ? PreviewList(passes: passes) : String(text.prefix(200))
        case .array(let elements): PreviewList(elements: elements, passes: passes)
        case .object(let members):
            Dictionary(members.map { ($0.name, Self.value($0.value, passes)) }, uniquingKeysWith: { first, _ in first })
        case .null: PreviewList(passes: passes)
        }
    }

    func makeIterator() -> AnyIterator<Any> {
        var rest = elements.makeIterator()
        return AnyIterator { [passes] in
            passes.left -= 1
            return passes.left < 0 ? nil : rest.next().map { Self.value($0, passes) }
        }
    }

    func child(named name: String) -> Any? { nil }

    var isNull: Bool { false }
    var renderText: String { "" }
}
