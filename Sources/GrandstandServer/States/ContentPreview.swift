internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Mustache

/// An app's parsed templates, which show its contents to people.
struct ContentPreview: Sendable {
    private let compact: PreviewTemplate?
    private let expanded: PreviewTemplate?

    /// A template that cannot be parsed shows nothing. An app may still have one from an earlier release.
    init(_ preview: Contract.AppPreview) {
        compact = preview.compact.flatMap { try? PreviewTemplate($0) }
        expanded = preview.expanded.flatMap { try? PreviewTemplate($0) }
    }

    /// A content as plain text.
    ///
    /// - Parameter contentState: JSON; other text shows nothing.
    func shown(_ contentState: [UInt8]?) -> Contract.RenderedPreview? {
        guard compact != nil || expanded != nil, let contentState,
            let content = try? JSONValue(parsing: contentState)
        else { return nil }
        return Contract.RenderedPreview(compact: compact?.text(of: content), expanded: expanded?.text(of: content))
    }
}

extension ContentPreview {
    /// Why a text is not a template; `nil`: the text is a template, or there is no text.
    static func fault(in text: String?) -> String? {
        guard let text else { return nil }
        do throws(PreviewTemplate.Fault) { _ = try PreviewTemplate(text) } catch {
            return "This is not a valid template: \(error.description)"
        }
        return nil
    }
}

/// A template for the text of a lock screen, written by the app's team and filled from a `contentState`: `{{home}} –
/// {{away}}`.
///
/// It is Mustache with names, sections, inverted sections and comments only: no partials, other delimiters, functions
/// or pragmas. It makes plain text, so nothing is escaped. Parsing and filling have limits, because templates and
/// contents come from users.
struct PreviewTemplate: Sendable {
    static let maximumBytes = 2_000
    /// The most work of one filling, in bytes. A pass of a section costs the length of the template. A value costs its
    /// length. A name costs the number of members that are compared with it. Without a limit, nested sections would
    /// multiply the work.
    private static let maximumWork = 1_000_000

    private let template: MustacheTemplate
    private let bytes: Int

    /// Why a text is not a template, and where.
    struct Fault: Error, Sendable, Hashable {
        /// Counted from 1.
        var line: Int
        var column: Int
        var detail: String

        /// `line 1, column 7: …`
        var description: String { "line \(line), column \(column): \(detail)" }
    }

    init(_ text: String) throws(Fault) {
        bytes = text.utf8.count
        guard bytes <= Self.maximumBytes else {
            throw Fault(
                line: 1, column: 1, detail: "it has \(bytes) bytes of UTF-8; the limit is \(Self.maximumBytes).")
        }
        try Self.check(text)
        do {
            template = try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}\n" + text)
        } catch let error as MustacheTemplate.ParserError {
            // The parsed text begins with the pragma, so its line numbers are one too high.
            throw Fault(
                line: max(1, error.context.lineNumber - 1), column: error.context.columnNumber,
                detail: Self.words(error.error))
        } catch {
            throw Fault(line: 1, column: 1, detail: "it cannot be read.")
        }
    }

    /// The filled template, without white space at its ends. At a limit it is cut and ends with an ellipsis.
    ///
    /// - Parameter maximumBytes: the most bytes of the result, in UTF-8.
    func text(of content: JSONValue, maximumBytes: Int = 1_000) -> String {
        let budget = PreviewBudget(work: Self.maximumWork, pass: bytes)
        var text = template.render(PreviewValue.shown(content, budget)).drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        guard text.utf8.count > maximumBytes else { return budget.isSpent ? "\(text)…" : String(text) }
        // An index within a scalar is rounded down to the scalar's begin.
        return "\(text[..<text.utf8.index(text.startIndex, offsetBy: maximumBytes)])…"
    }

    // MARK: Reading

    /// Checks each tag. It finds tags as Mustache does: `{{`, then the character that gives the kind of the tag.
    private static func check(_ text: String) throws(Fault) {
        var rest = text[...]
        while let open = rest.firstRange(of: "{{") {
            func fault(_ detail: String) -> Fault { Fault(at: open.lowerBound, of: text, detail) }
            let tag = rest[open.upperBound...]
            guard let close = tag.firstRange(of: "}}") else { throw fault("this tag is not closed with }}.") }
            let name = tag[..<close.lowerBound]
            rest = tag[close.upperBound...]
            switch name.first {
            case "!": continue
            case ">", "<", "$", "=", "%":
                throw fault(
                    "{{\(name.prefix(1)) …}} is not supported. Use names, sections and comments only.")
            default: break
            }
            let signs: Set<Character> = ["#", "^", "/", "&", "{", " "]
            guard name.contains(where: { !signs.contains($0) }), !name.contains(where: "()*".contains),
                !name.contains("..")
            else { throw fault("expected a name between the braces, without ( ) * and .. in it.") }
        }
    }

    private static func words(_ error: any Error) -> String {
        switch error as? MustacheTemplate.Error {
        case .sectionCloseNameIncorrect?: "this closes a section other than the one opened last."
        case .expectedSectionEnd?: "a section is not closed."
        case .unfinishedName?:
            "a name may have only ASCII letters, digits and the characters . - _ ?; then }} must follow."
        default: "it cannot be read."
        }
    }
}

extension PreviewTemplate.Fault {
    fileprivate init(at place: String.Index, of text: String, _ detail: String) {
        let before = text[..<place]
        line = before.count { $0 == "\n" } + 1
        column =
            text.distance(from: before.lastIndex(of: "\n").map(text.index(after:)) ?? text.startIndex, to: place) + 1
        self.detail = detail
    }
}

/// The remaining work for filling one template.
final class PreviewBudget {
    private var left: Int
    /// The cost of one pass of a section.
    let pass: Int
    /// Whether something was left out because the work was used up.
    var isSpent: Bool { left < 0 }

    init(work: Int, pass: Int) { (left, self.pass) = (work, pass) }

    /// - Returns: whether there was enough left. After the first `false`, nothing is left.
    func take(_ work: Int) -> Bool {
        left -= work + 1
        return !isSpent
    }
}

/// A value of a content, as Mustache reads it, within a budget.
struct PreviewValue: MustacheParent, MustacheCustomRenderable {
    private let value: JSONValue
    fileprivate let budget: PreviewBudget

    /// - Returns: a value of a type that Mustache treats correctly.
    static func shown(_ value: JSONValue, _ budget: PreviewBudget) -> Any {
        switch value.kind {
        case .bool(let flag): flag
        case .array(let elements): PreviewList(elements: elements, whole: PreviewValue(value: value, budget: budget))
        case .null, .number, .string, .object: PreviewValue(value: value, budget: budget)
        }
    }

    func child(named name: String) -> Any? {
        guard budget.take(value.members.count) else { return nil }
        return value[name].map { Self.shown($0, budget) }
    }

    /// Whether a section of this value is skipped, and an inverted section is shown.
    var isNull: Bool { value.isNull || value.string == "" }

    var renderText: String {
        switch value.kind {
        case .null: ""
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text), .string(let text): budget.take(text.utf8.count) ? text : ""
        // Lists and objects are shown as written, because a template cannot say how to show them.
        case .array, .object: budget.take(value.source.count) ? String(decoding: value.source, as: UTF8.self) : ""
        }
    }
}

/// A list in a content. It has no members, so Mustache looks for names in the values around it.
private struct PreviewList: MustacheSequence, MustacheParent, MustacheCustomRenderable {
    let elements: [JSONValue]
    let whole: PreviewValue

    /// The elements, until the budget is too small for another pass.
    func makeIterator() -> AnyIterator<Any> {
        let budget = whole.budget
        let passes = elements.lazy.prefix { _ in budget.take(budget.pass) }.map { PreviewValue.shown($0, budget) }
        return AnyIterator(passes.makeIterator())
    }

    func child(named name: String) -> Any? { nil }

    var isNull: Bool { false }
    var renderText: String { whole.renderText }
}
