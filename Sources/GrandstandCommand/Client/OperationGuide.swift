internal import Foundation
internal import GrandstandContract
internal import GrandstandServer

/// What openapi.yaml says of an operation, for help and completion. The reading is simple, because the file has one form:
/// two spaces for each level, a member on each line, and every parameter by its name in `components`.
struct OperationGuide {
    struct Parameter {
        let name: String
        /// `path`, `query` or `header`.
        let place: String
        let isRequired: Bool
        let text: String
        /// `integer`, `boolean`, `date-time` or another word.
        let type: String
        /// The words of its enumeration; empty: it has none.
        let words: [String]
    }

    let operation: Contract.Operation
    let summary: String
    let text: String
    let parameters: [Parameter]
    let hasBody: Bool
    /// What the members of the body mean, by their names.
    let members: [String: String]
    let example: String?

    init(_ operation: Contract.Operation) {
        self.operation = operation
        let block = Self.block("      operationId: \(operation.id)", deeperThan: 4)
        summary = Self.text("summary", 6, in: block)
        text = Self.text("description", 6, in: block)
        parameters = block.compactMap { Self.reference(in: $0, to: "parameters") }.map(Parameter.init)
            .sorted { $0.rank < $1.rank }
        let body = block.drop { $0 != "      requestBody:" }.prefix { $0 != "      responses:" }
        hasBody = !body.isEmpty
        members = Self.members(of: body.lazy.compactMap { Self.reference(in: $0, to: "schemas") }.first)
        example = body.lazy.compactMap { $0.split(separator: "example: ", maxSplits: 1).dropFirst().first }.first
            .map(String.init)
    }

    /// The arguments of `grandstand call`, as its help shows them.
    var usage: String {
        let names = parameters.filter(\.isRequired).map { " \($0.name)=…" }.joined()
        return "grandstand call \(operation.id)\(names)" + (hasBody ? " BODY" : "")
    }

    /// The help for people.
    var help: String {
        var lines = ["\(operation.method) \(operation.path)", summary]
        if !text.isEmpty { lines.append(text) }
        lines += ["", "USAGE: \(usage)"]
        if let scopes = operation.scopes {
            let words = scopes.map(\.rawValue).joined(separator: " or ")
            lines.append(
                "KEY: \(words.isEmpty ? "any but one with only the scope device" : "scope \(words), or admin")")
        } else {
            lines.append("KEY: none is needed")
        }
        if !parameters.isEmpty { lines += ["", "PARAMETERS:"] }
        for parameter in parameters {
            let note = parameter.place == "query" ? "" : parameter.isRequired ? " (required)" : " (header)"
            lines.append("  \(parameter.name)=\(note)  \(parameter.text)")
        }
        if let example { lines += ["", "EXAMPLE OF BODY:", "  \(example)"] }
        return lines.joined(separator: "\n")
    }

    // MARK: Reading

    private static let lines = ContractText.yaml.split(separator: "\n", omittingEmptySubsequences: false).map(
        String.init)
    /// Where each line stands that names an operation, a parameter or a schema.
    private static let places: [String: Int] = {
        var places: [String: Int] = [:]
        for section in ["paths:", "  parameters:", "  schemas:"] {
            guard let start = lines.firstIndex(of: section) else { continue }
            let depth = section == "paths:" ? 6 : 4
            for place in lines.indices[(start + 1)...] {
                let line = lines[place]
                if !line.isEmpty, indent(of: line) < (depth == 6 ? 1 : 4) { break }
                if indent(of: line) == depth, depth == 4 || line.hasPrefix("      operationId: ") {
                    places["\(section == "  schemas:" ? "schema" : "")\(line)"] = place
                }
            }
        }
        return places
    }()

    fileprivate static func reference(in line: String, to section: String) -> String? {
        line.split(separator: "#/components/\(section)/").dropFirst().first.map { rest in
            String(rest.prefix { $0 != "\"" })
        }
    }

    fileprivate static func schema(_ name: String) -> [String] { block("schema    \(name):", deeperThan: 4) }

    /// What the members of a schema mean: each stands on a line, with its text or a reference to another schema's.
    private static func members(of name: String?) -> [String: String] {
        let block = name.map(schema) ?? []
        var members: [String: String] = [:]
        for line in block.drop(while: { $0 != "      properties:" }).dropFirst() {
            guard indent(of: line) == 8, let colon = line.firstIndex(of: ":") else { continue }
            let text = line.split(separator: "description: \"").dropFirst().first.map { $0.prefix { $0 != "\"" } }
            let other = reference(in: line, to: "schemas").map { Self.text("description", 6, in: schema($0)) }
            members[line[..<colon].trimmingCharacters(in: .whitespaces)] = text.map(String.init) ?? other ?? ""
        }
        return members
    }

    /// The lines below a line, as long as they are indented deeper than this.
    fileprivate static func block(_ line: String, deeperThan depth: Int) -> [String] {
        guard let place = places[line] else { return [] }
        return lines[(place + 1)...].prefix { $0.isEmpty || indent(of: $0) > depth }.map { $0 }
    }

    /// The text of a member, also of one that is folded over several lines.
    fileprivate static func text(_ name: String, _ depth: Int, in block: [String]) -> String {
        let start = String(repeating: " ", count: depth) + name + ": "
        guard let place = block.firstIndex(where: { $0.hasPrefix(start) }) else { return "" }
        let value = String(block[place].dropFirst(start.count))
        if value.hasPrefix(">") || value.hasPrefix("|") {
            return block[(place + 1)...].prefix { indent(of: $0) > depth }
                .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
        }
        guard value.hasPrefix("\""), value.hasSuffix("\"") else { return value }
        return String(value.dropFirst().dropLast().replacing("\\\"", with: "\""))
    }

    private static func indent(of line: String) -> Int { line.prefix { $0 == " " }.count }
}

extension OperationGuide.Parameter {
    fileprivate init(_ key: String) {
        let block = OperationGuide.block("    \(key):", deeperThan: 4)
        let schema = block.first { $0.hasPrefix("      schema: ") } ?? ""
        let named = OperationGuide.reference(in: schema, to: "schemas").map(OperationGuide.schema) ?? []
        let words = OperationGuide.text("enum", 6, in: named).dropFirst().dropLast()
        self.init(
            name: OperationGuide.text("name", 6, in: block), place: OperationGuide.text("in", 6, in: block),
            isRequired: block.contains("      required: true"), text: OperationGuide.text("description", 6, in: block),
            type: ["date-time", "integer", "boolean"].first { schema.contains($0) } ?? "text",
            words: words.split(separator: ", ").map(String.init))
    }

    fileprivate var rank: Int { ["path", "query", "header"].firstIndex(of: place) ?? 3 }
}
