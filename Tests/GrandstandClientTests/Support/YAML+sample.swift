internal import ContractKit
internal import JSON

extension YAML {
    /// Sample JSON for this schema.
    ///
    /// - Parameter isFull: with every property; otherwise with the required ones only, and null where allowed.
    func sample(in api: OpenAPIDocument, isFull: Bool) -> String {
        func sample(_ schema: YAML) -> String { schema.sample(in: api, isFull: isFull) }
        if let name = self["$ref"]?.string.map(OpenAPIDocument.last), let referred = api.schema(name) {
            return sample(referred)
        }
        if let alternatives = (self["anyOf"] ?? self["oneOf"])?.elements {
            let isNullable = alternatives.contains { $0["type"]?.string == "null" }
            let first = alternatives.first { $0["type"]?.string != "null" }
            return isNullable && !isFull ? "null" : first.map(sample) ?? "null"
        }
        let types = self["type"]?.string.map { [$0] } ?? self["type"]?.strings ?? []
        if types.contains("null"), !isFull { return "null" }
        switch types.first(where: { $0 != "null" }) {
        case "boolean": return "true"
        case "integer": return "5"
        case "number": return "0.50"
        case "array":
            let fixed = self["minItems"]?.number.map { Int($0) } ?? 1
            let element = self["items"].map(sample) ?? "\"any\""
            return "[\(Array(repeating: element, count: max(1, fixed)).joined(separator: ", "))]"
        case "object":
            let required = Set(self["required"]?.strings ?? [])
            var members = (self["properties"]?.members ?? []).filter { isFull || required.contains($0.name) }
                .map { "\"\($0.name)\": \(sample($0.value))" }
            if let other = self["additionalProperties"], case .map = other {
                members.append("\"other\": \(sample(other))")
            }
            return "{\(members.joined(separator: ", "))}"
        default:
            if let word = self["enum"]?.strings.first ?? self["examples"]?.strings.first { return word.quotedJSON }
            return self["format"]?.string == "date-time" ? "\"2026-11-21T20:45:00.250Z\"" : "\"text\""
        }
    }
}
