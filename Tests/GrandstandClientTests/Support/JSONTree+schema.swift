internal import ContractKit
internal import GrandstandClient

/// Sample JSON for a schema.
extension JSONTree {
    /// The JSON without members that are null, because the API treats these as missing.
    var withoutNulls: JSONTree {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutNulls))
        case .object(let members): .object(members.filter { $0.value != .null }.mapValues(\.withoutNulls))
        default: self
        }
    }

    /// - Parameter isFull: with every property; otherwise with the required ones only, and null where allowed.
    init(of schema: YAML, in api: OpenAPIDocument, isFull: Bool) {
        func sample(_ schema: YAML) -> JSONTree { JSONTree(of: schema, in: api, isFull: isFull) }
        if let name = schema["$ref"]?.string.map(OpenAPIDocument.last), let referred = api.schema(name) {
            self = sample(referred)
            return
        }
        if let alternatives = (schema["anyOf"] ?? schema["oneOf"])?.elements {
            let isNullable = alternatives.contains { $0["type"]?.string == "null" }
            let first = alternatives.first { $0["type"]?.string != "null" }
            self = isNullable && !isFull ? .null : first.map(sample) ?? .null
            return
        }
        let types = schema["type"]?.string.map { [$0] } ?? schema["type"]?.strings ?? []
        if types.contains("null"), !isFull {
            self = .null
            return
        }
        switch types.first(where: { $0 != "null" }) {
        case "boolean": self = .bool(true)
        case "integer": self = .integer(5)
        case "number": self = .number(0.5)
        case "array":
            let fixed = schema["minItems"]?.number.map { Int($0) } ?? 1
            self = .array(Array(repeating: schema["items"].map(sample) ?? .string("any"), count: max(1, fixed)))
        case "object":
            let required = Set(schema["required"]?.strings ?? [])
            var members: [String: JSONTree] = [:]
            for (name, property) in schema["properties"]?.members ?? [] where isFull || required.contains(name) {
                members[name] = sample(property)
            }
            if let other = schema["additionalProperties"], case .map = other { members["other"] = sample(other) }
            self = .object(members)
        default:
            if let word = schema["enum"]?.strings.first ?? schema["examples"]?.strings.first {
                self = .string(word)
            } else {
                self = .string(schema["format"]?.string == "date-time" ? "2026-11-21T20:45:00.250Z" : "text")
            }
        }
    }
}
