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
    package let text: String
    /// Those of the path, the query and the header.
    package let parameters: [Parameter]
    /// The name of the body's schema; `nil`: there is no body.
    package let schema: String?
    /// An example of the body.
    package let example: String?

    /// Reads what the contract says of an operation.
    package init(_ operation: Contract.Operation) {
        self.operation = operation
        let block = ContractText.block(operation.path, operation.method.lowercased())
        summary = block["summary"]
        text = block["description"]
        let references = block.lines.filter { $0.contains("#/components/parameters/") }.compactMap(\.reference)
        let parameters = references.map(Parameter.init)
        self.parameters = ["path", "query", "header"].flatMap { place in parameters.filter { $0.place == place } }
        let body = ContractBlock(
            lines: Array(block.lines.drop { $0 != "      requestBody:" }.prefix { $0 != "      responses:" }))
        schema = body.reference
        example =
            body.lines.lazy.compactMap { line in
                line.firstRange(of: "example: ").map { String(line[$0.upperBound...]) }
            }.first
    }

    /// The rules for the body; `nil`: there is no body, or its members are free.
    package var shape: RequestShape? {
        schema.flatMap { Contract.values[$0] as? any ContractRequest.Type }?.shape
    }

    /// What a member of the body means.
    package func help(_ member: String) -> String { schema.flatMap { ContractText.help($0, member) } ?? "" }
}

extension OperationGuide.Parameter {
    fileprivate init(_ key: String) {
        let block = ContractText.block("parameters", key)
        let schema = block.lines.first { $0.hasPrefix("      schema: ") } ?? ""
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
            name: block["name"], place: block["in"], isRequired: block.lines.contains("      required: true"),
            text: block["description"], shape: shape)
    }
}
