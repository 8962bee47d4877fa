/// Swift source that is being written.
struct SwiftText {
    private(set) var text: String
    private var depth = 0

    private static let head = "// Generated from openapi.yaml by `make contract`. Do not edit.\n\n"

    init(imports: [String]) {
        text = Self.head
        if !imports.isEmpty { text += imports.joined(separator: "\n") + "\n\n" }
    }

    /// Adds imports above the others, if a declaration has a date.
    mutating func addImportsOfDates(_ lines: String) {
        if text.contains(": Date") { text = Self.head + lines + "\n" + text.dropFirst(Self.head.count) }
    }

    mutating func line(_ line: String = "") {
        text += line.isEmpty ? "\n" : String(repeating: "    ", count: depth) + line + "\n"
    }

    /// Writes a line that ends in `{`, the content, and `}`.
    mutating func block(_ head: String, _ body: (inout SwiftText) throws -> Void) rethrows {
        line(head + " {")
        depth += 1
        try body(&self)
        depth -= 1
        line("}")
    }

    /// Writes a doc comment and wraps its lines.
    mutating func document(_ words: String) {
        let width = 120 - 4 * depth - 4
        var row = ""
        for word in words.split(whereSeparator: \.isWhitespace) {
            if !row.isEmpty, row.count + 1 + word.count > width {
                line("/// " + row)
                row = ""
            }
            row += (row.isEmpty ? "" : " ") + word
        }
        if !row.isEmpty { line("/// " + row) }
    }
}

/// Turns names of the contract into Swift names.
enum SwiftName {
    private static let reserved: Set = [
        "default", "in", "is", "as", "case", "switch", "repeat", "operator", "internal", "public", "private", "self",
        "where", "for", "func", "init", "let", "var", "protocol", "extension", "import", "static", "true", "false",
    ]

    /// Joins `channel-lost`, `event.state` or `loc-key` to one name that begins with a small letter.
    static func member(_ word: String) -> String {
        let name = joined(word)
        return reserved.contains(name) ? "`\(name)`" : name
    }

    /// The name of a word. `unknown` is that of all words that are not known, so the word itself needs another one.
    static func word(_ word: String) -> String { word == "unknown" ? "notKnown" : member(word) }

    static func joined(_ word: String) -> String {
        let parts = word.split { "-._ /".contains($0) }.map(String.init)
        guard let first = parts.first else { return "none" }
        return first.prefix(1).lowercased() + first.dropFirst()
            + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

extension Contract.ValueType {
    /// The Swift type, written for use within the namespace of the contract's types or outside of it.
    func swift(in space: String = "") -> String {
        switch self {
        case .string: "String"
        case .integer: "Int"
        case .number: "Double"
        case .boolean: "Bool"
        case .date: "Date"
        case .raw: "RawJSON"
        case .secret: "String"
        case .named(let name): space + name
        case .array(let element): "[\(element.swift(in: space))]"
        case .map(let value): "[String: \(value.swift(in: space))]"
        case .optional(let value): value.swift(in: space) + "?"
        }
    }
}
