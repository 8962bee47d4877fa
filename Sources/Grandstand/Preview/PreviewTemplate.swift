/// A template of the text that a lock screen shows of a `contentState`, written by the app's team: `{{home}} –
/// {{away}}`.
///
/// The core of Mustache: `{{name}}`, `{{a.b}}`, `{{.}}`, sections `{{#name}}…{{/name}}`, inverted ones `{{^name}}…`, and
/// comments `{{!…}}`. What it comes to is plain text, so `{{{name}}}` and `{{&name}}` mean the same as `{{name}}`. There are
/// no partials, no other delimiters and no functions. Both templates and contents are strangers' to us: reading and
/// filling have bounds, whatever they are (`PreviewRendering`).
package struct PreviewTemplate: Sendable, Hashable {
    /// A name with dots between its parts; none: the value at hand.
    typealias Path = [String]

    enum Node: Sendable, Hashable {
        case text(String)
        case value(Path)
        indirect case section(Path, isInverted: Bool, [Node])
    }

    /// As it was written.
    package let text: String
    let nodes: [Node]

    package static let maximumBytes = 2_000
    /// Sections within each other.
    static let maximumDepth = 8

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
        guard text.utf8.count <= Self.maximumBytes else {
            throw Fault(
                line: 1, column: 1,
                detail: "it has \(text.utf8.count) bytes of UTF-8; at most \(Self.maximumBytes) are read.")
        }
        self.text = text
        var parser = Parser(text)
        nodes = try parser.parse()
    }
}

extension PreviewTemplate {
    /// Reads a template, tag by tag.
    private struct Parser {
        private struct Open {
            let path: Path
            let isInverted: Bool
            let start: Int
            var nodes: [Node] = []
        }

        private let scalars: [Unicode.Scalar]
        private var place = 0
        private var open: [Open] = []
        private var nodes: [Node] = []

        init(_ text: String) { scalars = Array(text.unicodeScalars) }

        mutating func parse() throws(Fault) -> [Node] {
            while place < scalars.count {
                let start = find("{", "{", from: place) ?? scalars.count
                if start > place { append(.text(string(place..<start))) }
                guard start < scalars.count else { break }
                try tag(at: start)
            }
            guard let last = open.last else { return nodes }
            throw fault(last.start, "the section \(Self.name(last.path)) has no {{/\(Self.name(last.path))}}.")
        }

        private mutating func tag(at start: Int) throws(Fault) {
            let isTriple = start + 2 < scalars.count && scalars[start + 2] == "{"
            let inner = start + (isTriple ? 3 : 2)
            guard let end = find("}", "}", from: inner), !isTriple || end + 2 < scalars.count && scalars[end + 2] == "}"
            else { throw fault(start, "this tag has no end: \(isTriple ? "}}}" : "}}") is missing.") }
            place = end + (isTriple ? 3 : 2)
            let content = Self.trimmed(scalars[inner..<end])
            guard let sign = content.first else { throw fault(start, "there is no name between the braces.") }
            let rest = Self.trimmed(content.dropFirst())
            if isTriple { return append(.value(try path(content, start))) }
            switch sign {
            case "!": return
            case "&": append(.value(try path(rest, start)))
            case "#", "^":
                guard open.count < PreviewTemplate.maximumDepth else {
                    throw fault(
                        start, "sections may stand in each other \(PreviewTemplate.maximumDepth) deep, no deeper.")
                }
                open.append(Open(path: try path(rest, start), isInverted: sign == "^", start: start))
            case "/":
                let path = try path(rest, start)
                guard let section = open.popLast() else {
                    throw fault(start, "there is no section \(Self.name(path)) to end here.")
                }
                guard section.path == path else {
                    throw fault(start, "the section to end here is \(Self.name(section.path)).")
                }
                append(.section(path, isInverted: section.isInverted, section.nodes))
            case ">", "<", "$", "=":
                throw fault(
                    start, "{{\(sign) …}} is not understood: names, sections and comments are all there is here.")
            default: append(.value(try path(content, start)))
            }
        }

        private mutating func append(_ node: Node) {
            if open.isEmpty { nodes.append(node) } else { open[open.count - 1].nodes.append(node) }
        }

        private func path(_ text: ArraySlice<Unicode.Scalar>, _ start: Int) throws(Fault) -> Path {
            if text.count == 1, text.first == "." { return [] }
            let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(Self.string)
            let isName = parts.allSatisfy { part in
                !part.isEmpty
                    && part.unicodeScalars.allSatisfy {
                        !$0.properties.isWhitespace && !"{}()".unicodeScalars.contains($0)
                    }
            }
            guard isName else {
                throw fault(start, "“\(Self.string(text))” is no name: a name has no spaces, braces or parentheses.")
            }
            return parts
        }

        private func find(_ first: Unicode.Scalar, _ second: Unicode.Scalar, from place: Int) -> Int? {
            var index = place
            while index + 1 < scalars.count {
                if scalars[index] == first, scalars[index + 1] == second { return index }
                index += 1
            }
            return nil
        }

        private func fault(_ place: Int, _ detail: String) -> Fault {
            let before = scalars[..<place]
            let line = before.lazy.filter { $0 == "\n" }.count + 1
            let lineStart = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
            return Fault(line: line, column: place - lineStart + 1, detail: detail)
        }

        private func string(_ range: Range<Int>) -> String { Self.string(scalars[range]) }

        private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            return text
        }

        private static func name(_ path: Path) -> String { path.isEmpty ? "." : path.joined(separator: ".") }

        private static func trimmed(_ text: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
            var text = text.drop { $0.properties.isWhitespace }
            while text.last?.properties.isWhitespace == true { text.removeLast() }
            return text
        }
    }
}
