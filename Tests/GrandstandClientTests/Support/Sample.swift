internal import Foundation

/// Any JSON that may be compared, and such as a schema describes.
enum Sample: Codable, Hashable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([Sample])
    case object([String: Sample])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([Sample].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Sample].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// Without members that are null: to the API they are as those that are left out.
    var said: Sample {
        switch self {
        case .array(let elements): .array(elements.map(\.said))
        case .object(let members): .object(members.filter { $0.value != .null }.mapValues(\.said))
        default: self
        }
    }

    /// - Parameter isFull: with every property, else with the required ones only, and null where that may be.
    init(of schema: YAML, in api: OpenAPI, isFull: Bool) {
        func sample(_ schema: YAML) -> Sample { Sample(of: schema, in: api, isFull: isFull) }
        if let name = schema["$ref"]?.string.map(OpenAPI.last), let referred = api.schema(name) {
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
        case "integer": self = .number(5)
        case "number": self = .number(0.5)
        case "array":
            let fixed = Int(schema["minItems"]?.string ?? "") ?? 1
            self = .array(Array(repeating: schema["items"].map(sample) ?? .string("any"), count: max(1, fixed)))
        case "object":
            let required = Set(schema["required"]?.strings ?? [])
            var members: [String: Sample] = [:]
            for (name, property) in schema["properties"]?.members ?? [] where isFull || required.contains(name) {
                members[name] = sample(property)
            }
            if let other = schema["additionalProperties"], other.string == nil { members["other"] = sample(other) }
            self = .object(members)
        default:
            if let word = schema["enum"]?.strings.first {
                self = .string(word)
            } else {
                self = .string(schema["format"]?.string == "date-time" ? "2026-11-21T20:45:00.250Z" : "text")
            }
        }
    }
}
