internal import Grandstand
package import JSON
internal import Mustache

/// A template of the text that a lock screen shows of a `contentState`, written by the app's team: `{{home}} –
/// {{away}}`.
///
/// Mustache without what reaches beyond the content: names, sections, inverted sections and comments; no partials, other
/// delimiters, functions or pragmas. It makes plain text, so nothing is escaped. Both templates and contents are written
/// by others, so reading and filling have bounds.
package struct PreviewTemplate: Sendable {
    package static let maximumBytes = 2_000
    /// Sections within each other.
    static let maximumDepth = 8
    /// Bytes that one filling may go through: a section's pass costs as much as the template is long, a value its length,
    /// a name the members that are looked at. Sections within sections multiply.
    private static let maximumWork = 1_000_000

    private let template: MustacheTemplate
    private let bytes: Int

    /// Why a text is no template, and where.
    package struct Fault: Error, Sendable, Hashable {
        /// Counted from 1.
        package var line: Int
        package var column: Int
        package var detail: String

        /// `line 1, column 7: …`
        package var description: String { "line \(line), column \(column): \(detail)" }
    }

    package init(_ text: String) throws(Fault) {
        bytes = text.utf8.count
        guard bytes <= Self.maximumBytes else {
            throw Fault(
                line: 1, column: 1, detail: "it has \(bytes) bytes of UTF-8; at most \(Self.maximumBytes) are read.")
        }
        // First, for Mustache reads sections by recursion.
        try Self.check(text)
        do {
            template = try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}\n" + text)
        } catch let error as MustacheTemplate.ParserError {
            // The pragma's line is the first.
            throw Fault(
                line: max(1, error.context.lineNumber - 1), column: error.context.columnNumber,
                detail: Self.words(error.error))
        } catch {
            throw Fault(line: 1, column: 1, detail: "it cannot be read.")
        }
    }

    /// The template filled with a content, without white space around it; cut, with an ellipsis, where a bound is reached.
    ///
    /// - Parameter maximumBytes: of what it comes to, in UTF-8.
    package func text(of content: JSONValue, maximumBytes: Int = 1_000) -> String {
        let budget = PreviewBudget(work: Self.maximumWork, pass: bytes)
        let whole = template.render(PreviewValue.shown(content, budget))
        var text = String.UnicodeScalarView(whole.unicodeScalars.drop { $0.properties.isWhitespace })
        while text.last?.properties.isWhitespace == true { text.removeLast() }
        guard text.utf8Count > maximumBytes else { return budget.isSpent ? "\(String(text))…" : String(text) }
        var cut = String.UnicodeScalarView()
        var left = maximumBytes
        for scalar in text {
            left -= UTF8.width(scalar)
            if left < 0 { break }
            cut.append(scalar)
        }
        return "\(String(cut))…"
    }

    // MARK: Reading

    /// Looks at each tag as Mustache finds it: `{{`, then what it is.
    private static func check(_ text: String) throws(Fault) {
        var rest = text[...]
        var depth = 0
        while let open = rest.firstRange(of: "{{") {
            func fault(_ detail: String) -> Fault { Fault(at: open.lowerBound, of: text, detail) }
            let tag = rest[open.upperBound...]
            guard let close = tag.firstRange(of: "}}") else { throw fault("this tag has no end: }} is missing.") }
            let name = tag[..<close.lowerBound]
            rest = tag[close.upperBound...]
            switch name.first {
            case "!": continue
            case ">", "<", "$", "=", "%":
                throw fault(
                    "{{\(name.prefix(1)) …}} is not understood: names, sections and comments are all there is here.")
            case "#", "^":
                depth += 1
                guard depth <= maximumDepth else {
                    throw fault("sections may stand in each other \(maximumDepth) deep, no deeper.")
                }
            case "/": depth -= 1
            default: break
            }
            let signs: Set<Character> = ["#", "^", "/", "&", "{", " "]
            guard name.contains(where: { !signs.contains($0) }), !name.contains(where: "()*".contains),
                !name.contains("..")
            else { throw fault("a name was expected between the braces, without parentheses.") }
        }
    }

    private static func words(_ error: any Error) -> String {
        switch error as? MustacheTemplate.Error {
        case .sectionCloseNameIncorrect?: "the section that ends here is not the one that began last."
        case .expectedSectionEnd?: "a section has no end."
        case .unfinishedName?: "a name has ASCII letters, digits and .-_? only, and }} after it."
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

extension String.UnicodeScalarView {
    fileprivate var utf8Count: Int { reduce(0) { $0 + UTF8.width($1) } }
}
