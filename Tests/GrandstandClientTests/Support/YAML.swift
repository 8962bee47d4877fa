internal import Foundation

/// As much of YAML as openapi.yaml uses: mappings and lists in blocks and in one line, quoted, plain and folded texts.
enum YAML {
    case text(String)
    case list([YAML])
    case map([Member])

    struct Member {
        let name: String
        let value: YAML
    }

    init(_ document: String) {
        var reader = Reader(document)
        self = reader.block(0)
    }

    subscript(_ name: String) -> YAML? {
        guard case .map(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    var members: [(name: String, value: YAML)] {
        if case .map(let members) = self { members.map { ($0.name, $0.value) } } else { [] }
    }

    var elements: [YAML] {
        if case .list(let elements) = self { elements } else { [] }
    }

    var string: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The elements that are texts.
    var strings: [String] { elements.compactMap(\.string) }

    private struct Reader {
        private var lines: ArraySlice<(indent: Int, text: Substring)>

        init(_ document: String) {
            lines =
                document.split(separator: "\n").map { line in
                    let indent = line.prefix { $0 == " " }.count
                    return (indent, line.dropFirst(indent))
                }.filter { !$0.text.isEmpty && !$0.text.hasPrefix("#") }[...]
        }

        mutating func block(_ indent: Int) -> YAML {
            guard let first = lines.first, first.indent >= indent else { return .text("") }
            return first.text.hasPrefix("- ") ? list(first.indent) : map(first.indent)
        }

        private mutating func list(_ indent: Int) -> YAML {
            var elements: [YAML] = []
            while let line = lines.first, line.indent == indent, line.text.hasPrefix("- ") {
                let rest = line.text.dropFirst(2)
                if Self.name(of: rest) != nil, !rest.hasPrefix("{") {
                    lines[lines.startIndex] = (indent + 2, rest)
                    elements.append(map(indent + 2))
                } else {
                    lines.removeFirst()
                    elements.append(Self.flow(rest))
                }
            }
            return .list(elements)
        }

        private mutating func map(_ indent: Int) -> YAML {
            var members: [Member] = []
            while let line = lines.first, line.indent == indent, let (name, rest) = Self.name(of: line.text) {
                lines.removeFirst()
                if rest.isEmpty {
                    // A list may stand as far left as its name.
                    let isList = lines.first.map { $0.indent == indent && $0.text.hasPrefix("- ") } ?? false
                    members.append(Member(name: name, value: block(isList ? indent : indent + 1)))
                } else if rest.hasPrefix("|") || rest.hasPrefix(">") {
                    while let line = lines.first, line.indent > indent { lines.removeFirst() }
                    members.append(Member(name: name, value: .text("")))
                } else {
                    members.append(Member(name: name, value: Self.flow(rest)))
                }
            }
            return .map(members)
        }

        /// The name before a colon, and what follows it.
        private static func name(of text: Substring) -> (String, Substring)? {
            if text.hasPrefix("\"") {
                guard let end = text.dropFirst().firstIndex(of: "\"") else { return nil }
                let rest = text[text.index(after: end)...]
                guard rest.hasPrefix(":") else { return nil }
                return (String(text.dropFirst()[..<end]), rest.dropFirst().drop { $0 == " " })
            }
            let end = text.range(of: ": ")?.lowerBound ?? (text.hasSuffix(":") ? text.indices.last : nil)
            guard let end else { return nil }
            return (String(text[..<end]), text[end...].dropFirst().drop { $0 == " " })
        }

        private static func flow(_ text: Substring) -> YAML {
            var rest = text
            return value(&rest, isInside: false)
        }

        private static func value(_ rest: inout Substring, isInside: Bool) -> YAML {
            rest = rest.drop { $0 == " " }
            switch rest.first {
            case "{":
                rest.removeFirst()
                var members: [Member] = []
                while let first = rest.first, first != "}" {
                    let start = rest.startIndex
                    let name = value(&rest, isInside: true).string ?? ""
                    if rest.hasPrefix(":") { rest.removeFirst() }
                    members.append(Member(name: name, value: value(&rest, isInside: true)))
                    rest = rest.drop { $0 == " " || $0 == "," }
                    precondition(rest.startIndex > start, "this is no YAML that tests read: \(rest)")
                }
                rest = rest.dropFirst()
                return .map(members)
            case "[":
                rest.removeFirst()
                var elements: [YAML] = []
                while let first = rest.first, first != "]" {
                    let start = rest.startIndex
                    elements.append(value(&rest, isInside: true))
                    rest = rest.drop { $0 == " " || $0 == "," }
                    precondition(rest.startIndex > start, "this is no YAML that tests read: \(rest)")
                }
                rest = rest.dropFirst()
                return .list(elements)
            case "\"", "'":
                let quote = rest.removeFirst()
                var text = ""
                while let character = rest.popFirst(), character != quote {
                    text.append(character == "\\" && quote == "\"" ? rest.popFirst() ?? "\\" : character)
                }
                return .text(text)
            default:
                guard isInside else { return .text(String(rest)) }
                var text = ""
                while let character = rest.first, !",}]".contains(character),
                    !(character == ":" && rest.dropFirst().first.map { $0 == " " } ?? true)
                { text.append(rest.removeFirst()) }
                return .text(text)
            }
        }
    }
}
