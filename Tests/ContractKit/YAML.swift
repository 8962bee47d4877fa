package import Foundation

/// A value of YAML or JSON. The parser reads only the YAML that openapi.yaml uses: mappings and lists in block and flow
/// style, and quoted, plain and folded texts.
package enum YAML: Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([YAML])
    case map([Member])

    package struct Member: Sendable {
        package let name: String
        package let value: YAML
    }

    package init(_ document: String) {
        var reader = Reader(document)
        self = reader.block(0)
    }

    /// Reads JSON.
    package init(json: Data) throws { self = try JSONDecoder().decode(YAML.self, from: json) }

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
            return .map(members)
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

extension YAML: Decodable {
    package init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyName.self) {
            self = .map(
                try container.allKeys.map {
                    Member(name: $0.stringValue, value: try container.decode(YAML.self, forKey: $0))
                })
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [YAML] = []
            while !container.isAtEnd { elements.append(try container.decode(YAML.self)) }
            self = .list(elements)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let flag = try? container.decode(Bool.self) {
                self = .bool(flag)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    private struct AnyName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension YAML: Equatable {
    /// The order of members does not matter.
    package static func == (one: YAML, other: YAML) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.text(let one), .text(let other)): one == other
        case (.list(let one), .list(let other)): one == other
        case (.map(let one), .map(let other)):
            one.count == other.count
                && one.allSatisfy { member in other.contains { $0.name == member.name && $0.value == member.value } }
        default: false
        }
    }
}
