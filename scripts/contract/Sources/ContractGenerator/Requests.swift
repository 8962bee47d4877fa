import Yams

/// The rules for request bodies as values, with which the server reads bodies.
struct RequestShapes {
    private let schemas: Node
    /// The objects in request bodies, in the order in which requests use them.
    private var objects: [(name: String, shape: String)] = []
    private var seen: Set<String> = []

    /// Texts without control characters.
    private static let printable = #"^[^\x00-\x1F\x7F-\x9F\u2028\u2029]*$"#

    init(_ root: Node) throws {
        schemas = try root.member("components").member("schemas")
        for (_, item) in try root.member("paths").pairs() {
            for (_, operation) in try item.pairs() {
                guard let body = operation["requestBody"] else { continue }
                for (_, content) in try body.member("content").pairs() {
                    let schema = try content.member("schema")
                    // A merge patch has no shape, because the server checks the resulting resource.
                    if let name = Self.name(schema), schemas[name]?["x-patch-of"] != nil { continue }
                    _ = try shape(schema)
                }
            }
        }
    }

    /// The objects and their members.
    func requests() -> String {
        var swift = SwiftText(imports: [])
        for (index, object) in objects.enumerated() {
            if index > 0 { swift.line() }
            swift.block("extension Contract.\(object.name): ContractRequest") { swift in
                swift.line("package static let shape: RequestShape = \(object.shape)")
            }
        }
        return swift.text
    }

    /// The named rules of texts.
    func texts() throws -> String {
        var swift = SwiftText(imports: [])
        try swift.block("extension TextRule") { swift in
            for (name, node) in try schemas.pairs() where Self.isText(node) {
                swift.document(node["description"]?.string ?? name)
                swift.line("package static let \(SwiftName.joined(name)) = \(try rule(node, name))")
            }
        }
        return swift.text
    }

    private static func name(_ node: Node) -> String? {
        node["$ref"]?.string?.split(separator: "/").last.map(String.init)
    }

    private static func isText(_ node: Node) -> Bool {
        node["type"]?.string == "string" && node["enum"] == nil && node["x-secret"] == nil
            && node["format"] == nil && (node["pattern"] ?? node["maxLength"]) != nil
    }

    private mutating func shape(_ node: Node) throws -> String {
        if let name = Self.name(node) {
            let target = try schemas.member(name)
            if Self.isText(target) { return ".text(.\(SwiftName.joined(name)))" }
            if target["enum"] != nil, target["type"]?.string == "string" {
                return ".words(Contract.\(name).allCases.map(\\.rawValue))"
            }
            guard target["properties"] != nil else { return try shape(target) }
            if seen.insert(name).inserted { objects.append((name, try object(target))) }
            return "Contract.\(name).shape"
        }
        if let choices = try node["anyOf"]?.elements().filter({ $0["type"]?.string != "null" }) {
            guard let last = choices.last, choices.count <= 2 else { throw ContractFault("anyOf of many in a request") }
            guard let first = choices.first, choices.count == 2 else { return try shape(last) }
            return ".objectOr(\(try shape(last)), \(try shape(first)))"
        }
        if node["type"] == nil, node["x-raw"]?.bool == true { return ".any" }
        let words = try node["type"]?.sequence.map { try $0.map { try $0.text() } } ?? [try node.member("type").text()]
        switch words.filter({ $0 != "null" }) {
        case ["string"]:
            if node["format"]?.string == "date-time" { return ".time" }
            return ".text(\(try rule(node, "A text")))"
        case ["integer"]:
            if let numbers = node["enum"]?.sequence {
                return ".numbers([\(numbers.compactMap(\.int).map(String.init).joined(separator: ", "))])"
            }
            guard let least = node["minimum"]?.int, let most = node["maximum"]?.int else {
                throw ContractFault("A whole number of a request has no minimum and maximum")
            }
            return ".integer(\(Self.number(least))...\(Self.number(most)))"
        case ["number"]: return ".number"
        case ["boolean"]: return ".flag"
        case ["array"]:
            guard let most = node["maxItems"]?.int else { throw ContractFault("An array of a request has no maxItems") }
            let element = try shape(try node.member("items"))
            let isUnique = node["uniqueItems"]?.bool == true
            return ".array(\(element), \(node["minItems"]?.int ?? 0)...\(Self.number(most)), isUnique: \(isUnique))"
        case ["object"]:
            guard let values = node["additionalProperties"], values.mapping != nil, let names = node["propertyNames"]
            else { return ".raw" }
            guard let name = Self.name(names) else { throw ContractFault("propertyNames of a request have no schema") }
            return ".map(.\(SwiftName.joined(name)), \(try shape(values)))"
        default: throw ContractFault("A request cannot have \(words)")
        }
    }

    private mutating func object(_ node: Node) throws -> String {
        let required = Set(try node["required"]?.elements().map { try $0.text() } ?? [])
        var members: [String] = []
        for (name, node) in try node.member("properties").pairs() {
            let isRequired = required.contains(name) ? "isRequired: true, " : ""
            members.append(".init(\"\(name)\", \(isRequired)\(try shape(node)))")
        }
        let both = try node["not"]?.member("required").elements().map { try $0.text() } ?? []
        let exclusions = both.count == 2 ? ".init(\"\(both[0])\", \"\(both[1])\")" : ""
        return ".object([\(members.joined(separator: ", "))], excluding: [\(exclusions)])"
    }

    private func rule(_ node: Node, _ name: String) throws -> String {
        var arguments: [String] = []
        if node["minLength"] != nil || node["maxLength"] != nil {
            let most = node["maxLength"]?.int.map(Self.number) ?? "Int.max"
            arguments.append("\(node["minLength"]?.int ?? 0)...\(most)")
        }
        let pattern = node["pattern"]?.string
        if let pattern, pattern != Self.printable {
            guard Self.isRead(pattern) else { throw ContractFault("\(name) has a pattern that the server cannot read") }
            arguments.append("pattern: #\"\(pattern)\"#")
        }
        if let excluded = node["not"]?["pattern"]?.string {
            // The pattern is a plain text with its dots in brackets.
            arguments.append("excluding: \"\(excluded.replacing("[.]", with: "."))\"")
        }
        if pattern == Self.printable { arguments.append("isPrintable: true") }
        if let rule = node["x-rule"]?.string {
            arguments.append("rule: \"\(rule)\"")
        } else if let pattern, pattern != Self.printable {
            throw ContractFault("\(name) has a pattern and no x-rule, the sentence of its refusals")
        }
        return "TextRule(\(arguments.joined(separator: ", ")))"
    }

    /// Whether the server's TextPattern reads a pattern like JSON Schema. Outside of sets it supports plain characters,
    /// groups and counts, but no `.`, `|`, `(?` or `{1,}`.
    private static func isRead(_ pattern: String) -> Bool {
        let rest = pattern.replacing(#/\[(?:\\.|[^\]\\])*\]/#, with: "")
        return rest.wholeMatch(of: #/\^[A-Za-z0-9:\/_()?*+{},-]*\$?/#) != nil
            && !rest.contains("(?") && !rest.contains(",}")
    }

    private static func number(_ number: Int) -> String {
        let digits = Array(String(abs(number)).reversed())
        let groups = stride(from: 0, to: digits.count, by: 3).map {
            String(digits[$0..<min($0 + 3, digits.count)].reversed())
        }
        return (number < 0 ? "-" : "") + groups.reversed().joined(separator: "_")
    }
}
