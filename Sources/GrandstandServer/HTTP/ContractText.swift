package import GrandstandContract

/// What openapi.yaml says of an operation, for the forms of pages, and for the help and completion of the command line.
package struct OperationGuide: Sendable {
    /// A parameter of the path, the query or the header.
    package struct Parameter: Sendable {
        package let name: String
        /// `path`, `query` or `header`.
        package let place: String
        package let isRequired: Bool
        /// What it means.
        package let text: String
        /// A flag, a time, a number, words, or another text.
        package let shape: RequestShape

        /// What it means, and if it is a flag, what it means that it is set.
        package var help: String { text.hasPrefix("true: ") ? String(text.dropFirst(6)) : text }

        /// Whether its value is a time.
        var isTime: Bool { if case .time = shape { true } else { false } }
    }

    package let operation: Contract.Operation
    package let summary: String
    package let details: String
    /// Those of the path, the query and the header.
    package let parameters: [Parameter]
    /// The name of the body's schema; `nil`: there is no body.
    package let bodySchema: String?
    /// An example of the body.
    package let example: String?

    /// Reads what the contract says of an operation.
    package init(_ operation: Contract.Operation) {
        self.operation = operation
        let block = ContractText.block(operation.path, operation.method.lowercased())
        summary = block["summary"]
        details = block["description"]
        let references = block.filter { $0.contains("#/components/parameters/") }.compactMap(\.reference)
        let parameters = references.map(Parameter.init)
        self.parameters = ["path", "query", "header"].flatMap { place in parameters.filter { $0.place == place } }
        let body = Array(block.drop { $0 != "      requestBody:" }.prefix { $0 != "      responses:" })
        bodySchema = body.reference
        example =
            body.lazy.compactMap { line in
                line.firstRange(of: "example: ").map { String(line[$0.upperBound...]) }
            }.first
    }

    /// The rules for the body; `nil`: there is no body, or its members are free.
    package var shape: RequestShape? {
        bodySchema.flatMap { Contract.values[$0] as? any ContractRequest.Type }?.shape
    }

    /// What a member of the body means.
    package func help(_ member: String) -> String { ContractText.help(bodySchema ?? "", member) ?? "" }
}

extension OperationGuide.Parameter {
    fileprivate init(_ key: String) {
        let block = ContractText.block("parameters", key)
        let schema = block.first { $0.hasPrefix("      schema: ") } ?? ""
        let named = ContractText.block("schemas", schema.reference ?? "")
        let words = named["enum"].dropFirst().dropLast().split(separator: ", ").map(String.init)
        let type = ["date-time", "integer", "boolean"].first { schema.contains($0) }
        func number(_ name: String) -> Int? { schema.value(name).flatMap { Int($0) } }
        let shape: RequestShape =
            switch type {
            case "date-time": .time
            case "integer": .integer((number("minimum") ?? .min)...(number("maximum") ?? .max))
            case "boolean": .flag
            default: words.isEmpty ? .text(TextRule(0...(Int(named["maxLength"]) ?? .max))) : .words(words)
            }
        self.init(
            name: block["name"], place: block["in"], isRequired: block.contains("      required: true"),
            text: block["description"], shape: shape)
    }
}

/// The contract of this version.
package enum ContractText {
    /// The text of openapi.yaml.
    package static let yaml = EmbeddedFiles.texts["openapi.yaml"] ?? ""

    /// The lines below a method of a path, or below a component.
    ///
    /// - Parameter section: the path, or a word such as `schemas`.
    static func block(_ section: String, _ name: String) -> [Substring] {
        blocks["\(section) \(name)"] ?? []
    }

    /// What a member of a schema means, and its default; `nil`: the schema has no such member.
    package static func help(_ schema: String, _ member: String) -> String? {
        guard let line = block("schemas", schema)[member: member] else { return nil }
        let text = line.value("description") ?? line.reference.map { block("schemas", $0)["description"] }
        return text.map { $0 + (line.value("default").map { " Empty: \($0)." } ?? "") }
    }

    /// What a word means that a member can have.
    static func help(_ schema: String, _ member: String, word: String) -> String? {
        self.schema(of: schema, member).flatMap { block("schemas", $0)[member: word]?.plain }
    }

    /// The schema of a member.
    static func schema(of schema: String, _ member: String) -> String? {
        block("schemas", schema)[member: member]?.reference
    }

    /// By section and name. The reading is simple, because the file has one form: two spaces for each level, a member or a
    /// word on each line, and every parameter by its name in `components`.
    private static let blocks: [String: [Substring]] = {
        var blocks: [String: [Substring]] = [:]
        var (section, name) = ("", "")
        for line in yaml.split(separator: "\n") {
            switch line.indent {
            case 0...2: section = line.yamlKey
            case 3...4: name = "\(section) \(line.yamlKey)"
            default: blocks[name, default: []].append(line)
            }
        }
        return blocks
    }()
}

/// The lines of openapi.yaml below a name.
extension [Substring] {
    /// The text of a member, also of one that is folded over several lines; empty if there is none.
    subscript(name: String) -> String {
        let start = "      \(name): "
        guard let place = firstIndex(where: { $0.hasPrefix(start) }) else { return "" }
        let value = self[place].dropFirst(start.count)
        guard value.hasPrefix(">") else { return value.plain }
        return self[(place + 1)...].prefix { $0.indent > 6 }.map { String($0).trimmed }.joined(separator: " ")
    }

    /// The value of an inner member, such as a property or a word of an enumeration.
    subscript(member name: String) -> Substring? {
        first { $0.indent == 8 && $0.yamlKey == name }?.drop { $0 != ":" }.dropFirst(2)
    }

    /// The first of the lines that refers to a component.
    var reference: String? { lazy.compactMap(\.reference).first }
}

extension Substring {
    fileprivate var indent: Int { utf8.prefix { $0 == UInt8(ascii: " ") }.count }

    /// The name at the beginning of the line.
    fileprivate var yamlKey: String { drop { $0 == " " }.prefix { $0 != ":" }.plain }

    /// The component that the line refers to.
    var reference: String? {
        guard let start = firstRange(of: "#/components/")?.upperBound else { return nil }
        return String(self[start...].prefix { $0 != "\"" }.drop { $0 != "/" }.dropFirst())
    }

    /// The value of a member within braces.
    func value(_ name: String) -> String? {
        guard let start = firstRange(of: name + ": ")?.upperBound else { return nil }
        let value = self[start...]
        return value.hasPrefix("\"") ? value.plain : String(value.prefix { $0 != "," && $0 != "}" })
    }

    /// The text, without quotation marks at both ends.
    var plain: String {
        guard hasPrefix("\"") else { return String(self) }
        var plain = ""
        var isEscaped = false
        for character in dropFirst() {
            if !isEscaped, character == "\"" { break }
            isEscaped = !isEscaped && character == "\\"
            if !isEscaped { plain.append(character) }
        }
        return plain
    }
}
