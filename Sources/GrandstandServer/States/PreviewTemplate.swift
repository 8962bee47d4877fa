internal import Grandstand
internal import JSON
internal import Mustache

/// A template for the text of a lock screen, written by the app's team and filled from a `contentState`: `{{home}} –
/// {{away}}`.
///
/// It is Mustache with names, sections, inverted sections and comments only: no partials, other delimiters, functions
/// or pragmas. It makes plain text, so nothing is escaped. Parsing and filling have limits, because templates and
/// contents come from users.
struct PreviewTemplate: Sendable {
    static let maximumBytes = 2_000
    /// The deepest nesting of sections.
    static let maximumDepth = 8
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
        // Check first, because Mustache parses sections recursively.
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

    /// Checks each tag. It finds tags as Mustache does: `{{`, then the character that gives the kind of the tag.
    private static func check(_ text: String) throws(Fault) {
        var rest = text[...]
        var depth = 0
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
            case "#", "^":
                depth += 1
                guard depth <= maximumDepth else {
                    throw fault("sections are nested more than \(maximumDepth) levels deep.")
                }
            case "/": depth -= 1
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

extension String.UnicodeScalarView {
    fileprivate var utf8Count: Int { reduce(0) { $0 + UTF8.width($1) } }
}
