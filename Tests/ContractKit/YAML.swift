package import Foundation
internal import JSON

/// A value of YAML or JSON. The parser reads only the YAML that openapi.yaml uses: mappings and lists in block and flow
/// style, and quoted, plain and folded texts. Members are sorted by name, so that their order does not matter.
package enum YAML: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([YAML])
    case map([Member])

    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: YAML
    }

    private static func sorted(_ members: [Member]) -> YAML { .map(members.sorted { $0.name < $1.name }) }

    package init(_ document: String) {
        var reader = Reader(document)
        self = reader.block(0)
    }

    /// Reads JSON.
    package init(json: Data) throws { self.init(try JSONValue(decoding: json)) }

    private init(_ json: JSONValue) {
        self =
            switch json.kind {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .number(let text): .number(Double(text) ?? .nan)
            case .string(let text): .text(text)
            case .array(let elements): .list(elements.map { YAML($0) })
            case .object(let members): Self.sorted(members.map { Member(name: $0.name, value: YAML($0.value)) })
            }
    }

    package subscript(_ name: String) -> YAML? {
        guard case .map(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    package var members: [(name: String, value: YAML)] {
        if case .map(let members) = self { members.map { ($0.name, $0.value) } } else { [] }
    }

    package var elements: [YAML] {
        if case .list(let elements) = self { elements } else { [] }
    }

    package var string: String? {
        if case .text(let text) = self { text } else { nil }
    }

    package var number: Double? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The elements that are strings.
    package var strings: [String] { elements.compactMap(\.string) }

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
            guard let first = lines.first, first.indent >= indent else { return .null }
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
                    // The items of a list may have the same indentation as the name of the member.
                    let isList = lines.first.map { $0.indent == indent && $0.text.hasPrefix("- ") } ?? false
                    members.append(Member(name: name, value: block(isList ? indent : indent + 1)))
                } else if rest.hasPrefix("|") || rest.hasPrefix(">") {
                    var texts: [Substring] = []
                    while let line = lines.first, line.indent > indent { texts.append(lines.removeFirst().text) }
                    members.append(
                        Member(name: name, value: .text(texts.joined(separator: rest.hasPrefix(">") ? " " : "\n"))))
                } else {
                    members.append(Member(name: name, value: Self.flow(rest)))
                }
            }
            return YAML.sorted(members)
        }

        /// The name before a colon, and the text after it.
        private static func name(of text: Substring) -> (String, Substring)? {
            if text.hasPrefix("\"") {
                guard let end = text.dropFirst().firstIndex(of: "\"") else { return nil }
                let rest = text[text.index(after: end)...]
                guard rest.hasPrefix(":") else { return nil }
                return (String(text.dropFirst()[..<end]), rest.dropFirst().drop { $0 == " " })
            }
            let end = text.firstRange(of: ": ")?.lowerBound ?? (text.hasSuffix(":") ? text.indices.last : nil)
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
                    let name = value(&rest, isInside: true).name
                    if rest.hasPrefix(":") { rest.removeFirst() }
                    members.append(Member(name: name, value: value(&rest, isInside: true)))
                    rest = rest.drop { $0 == " " || $0 == "," }
                    precondition(rest.startIndex > start, "this is no YAML that tests read: \(rest)")
                }
                rest = rest.dropFirst()
                return YAML.sorted(members)
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
                    text.append(character == "\\" && quote == "\"" ? escaped(&rest) : character)
                }
                return .text(text)
            default:
                guard isInside else { return plain(String(rest)) }
                var text = ""
                while let character = rest.first, !",}]".contains(character),
                    !(character == ":" && rest.dropFirst().first.map { $0 == " " } ?? true)
                { text.append(rest.removeFirst()) }
                return plain(text)
            }
        }

        private static func escaped(_ rest: inout Substring) -> Character {
            switch rest.popFirst() {
            case "n": "\n"
            case "r": "\r"
            case "t": "\t"
            case let other: other ?? "\\"
            }
        }

        /// The value of a text without quotation marks.
        private static func plain(_ text: String) -> YAML {
            switch text {
            case "null", "~": .null
            case "true": .bool(true)
            case "false": .bool(false)
            default: Double(text).map { text.first?.isLetter == true ? .text(text) : .number($0) } ?? .text(text)
            }
        }
    }

    /// The text of a member's name. In YAML a name may also be a number, `true` or `false`.
    fileprivate var name: String {
        switch self {
        case .text(let text): text
        case .bool(let flag): "\(flag)"
        case .number(let number): "\(Int(number))"
        default: ""
        }
    }
}
