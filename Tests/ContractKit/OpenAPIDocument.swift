internal import Foundation
internal import Synchronization

/// The content of openapi.yaml.
package struct OpenAPIDocument: Sendable {
    package let document: YAML
    package let schemas: [(name: String, value: YAML)]

    /// The document in this repository.
    package static let written: OpenAPIDocument = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "Sources/GrandstandServer/HTTP/openapi.yaml")
        return OpenAPIDocument((try? String(contentsOf: file, encoding: .utf8)) ?? "")
    }()

    package init(_ text: String) {
        document = YAML(text)
        schemas = document["components"]?["schemas"]?.members ?? []
    }

    package func schema(_ name: String) -> YAML? { document["components"]?["schemas"]?[name] }

    /// The node that a reference names. A node without a reference is returned unchanged.
    package func resolved(_ value: YAML) -> YAML {
        guard let reference = value["$ref"]?.string else { return value }
        return reference.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] ?? .null }
    }

    /// The last part of a reference.
    package static func last(_ reference: String) -> String {
        reference.split(separator: "/").last.map(String.init) ?? ""
    }

    package struct Operation: Sendable {
        package let method: String
        /// The path's template, e.g. `/v1/apps/{bundleId}`.
        package let path: String
        package let value: YAML

        package var id: String { value["operationId"]?.string ?? "" }
    }

    package var operations: [Operation] {
        (document["paths"]?.members ?? []).flatMap { path, methods in
            methods.members.map { Operation(method: $0.name.uppercased(), path: path, value: $0.value) }
        }
    }
}

// The part of JSON Schema 2020-12 that openapi.yaml uses.
extension OpenAPIDocument {
    /// The places where a value violates a schema, with reasons. Empty: it is valid.
    package func faults(of value: YAML, in schema: YAML, at place: String = "") -> [String] {
        var faults: [String] = []
        if let reference = schema["$ref"]?.string {
            let named = resolved(schema)
            if named == .null { return ["\(place): there is no \(reference)"] }
            faults += self.faults(of: value, in: named, at: place)
        }
        for list in [schema["anyOf"], schema["oneOf"]].compactMap(\.self) {
            let all = list.elements.map { self.faults(of: value, in: $0, at: place) }
            if !all.contains(where: \.isEmpty) {
                faults.append("\(place): none of its alternatives: \(all.flatMap(\.self).joined(separator: ", "))")
            }
        }
        if let other = schema["not"], self.faults(of: value, in: other, at: place).isEmpty {
            faults.append("\(place): it is what it must not be")
        }
        let types = schema["type"]?.string.map { [$0] } ?? schema["type"]?.strings ?? []
        if !types.isEmpty, !types.contains(where: { Self.isOf(type: $0, value) }) {
            return faults + ["\(place): \(value) is no \(types.joined(separator: " or "))"]
        }
        if let words = schema["enum"]?.elements, !words.contains(value) {
            faults.append("\(place): \(value) is none of the words")
        }
        if let only = schema["const"], only != value { faults.append("\(place): \(value) is not \(only)") }
        switch value {
        case .number(let number):
            faults += Self.faults(of: number, from: "minimum", to: "maximum", in: schema, at: place)
        case .text(let text): faults += Self.faults(of: text, in: schema, at: place)
        case .list(let elements): faults += self.faults(of: elements, in: schema, at: place)
        case .map(let members): faults += self.faults(of: members, in: schema, at: place)
        case .null, .bool: break
        }
        return faults
    }

    private static func isOf(type: String, _ value: YAML) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("number", .number), ("string", .text), ("array", .list),
            ("object", .map):
            true
        case ("integer", .number(let number)): number.rounded() == number
        default: false
        }
    }

    /// The faults of a number, or of the size of a value, that must be between two members of the schema.
    private static func faults(
        of size: Double, from least: String, to most: String, in schema: YAML, at place: String
    ) -> [String] {
        let (low, high) = (schema[least]?.number ?? -.infinity, schema[most]?.number ?? .infinity)
        return (low...high).contains(size) ? [] : ["\(place): \(size) is not from \(least) to \(most)"]
    }

    private static func faults(of text: String, in schema: YAML, at place: String) -> [String] {
        let length = Double(text.unicodeScalars.count)
        var faults = faults(of: length, from: "minLength", to: "maxLength", in: schema, at: place)
        if let pattern = schema["pattern"]?.string, !matches(text, pattern) {
            faults.append("\(place): \(text) does not match \(pattern)")
        }
        switch schema["format"]?.string {
        case "uuid" where UUID(uuidString: text) == nil: faults.append("\(place): \(text) is no UUID")
        case "date-time"
        where !matches(text, #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"#):
            faults.append("\(place): \(text) is no time")
        default: break
        }
        return faults
    }

    private static let expressions = Mutex<[String: NSRegularExpression]>([:])

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        let expression = expressions.withLock { known in
            if known[pattern] == nil { known[pattern] = try? NSRegularExpression(pattern: pattern) }
            return known[pattern]
        }
        return expression?.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    private func faults(of elements: [YAML], in schema: YAML, at place: String) -> [String] {
        var faults = Self.faults(
            of: Double(elements.count), from: "minItems", to: "maxItems", in: schema, at: place)
        if schema["uniqueItems"] == .bool(true),
            elements.indices.contains(where: { elements[..<$0].contains(elements[$0]) })
        {
            faults.append("\(place): an element stands twice")
        }
        guard let items = schema["items"] else { return faults }
        return faults
            + elements.enumerated().flatMap { self.faults(of: $0.element, in: items, at: "\(place)/\($0.offset)") }
    }

    private func faults(of members: [YAML.Member], in schema: YAML, at place: String) -> [String] {
        var faults: [String] = []
        for name in schema["required"]?.strings ?? [] where !members.contains(where: { $0.name == name }) {
            faults.append("\(place): \(name) is missing")
        }
        for member in members {
            let place = "\(place)/\(member.name)"
            if let names = schema["propertyNames"] {
                faults += self.faults(of: .text(member.name), in: names, at: place)
            }
            if let property = schema["properties"]?[member.name] {
                faults += self.faults(of: member.value, in: property, at: place)
            } else if let other = schema["additionalProperties"] {
                switch other {
                case .bool(false): faults.append("\(place): there is no such member")
                case .bool: break
                default: faults += self.faults(of: member.value, in: other, at: place)
                }
            }
        }
        return faults
    }
}
