import Foundation
import Yams

/// The parts of openapi.yaml that Swift is generated from. The beginning of that file explains its form.
struct Contract {
    var schemas: [Schema] = []
    var problems: [ProblemKind] = []
    var operations: [Operation] = []

    struct Schema {
        var name: String
        /// The file that contains it: that of the first tag, in the order of openapi.yaml, with an operation that uses
        /// it.
        var room: String
        var text: String
        var shape: Shape
    }

    enum Shape {
        /// An enumeration to which a newer server may add values.
        case words([(word: String, text: String)])
        case object([Field])
        /// A page of a list of these.
        case page(of: ValueType)
        case union([(name: String, type: ValueType)])
        /// A plain type with its own rules, or JSON that is kept unchanged.
        case plain(ValueType)
    }

    indirect enum ValueType: Equatable {
        case string, integer, number, boolean, date, raw
        /// A string that is never printed, and that only the first answer has.
        case secret
        case named(String)
        case array(ValueType)
        case map(ValueType)
        case optional(ValueType)
    }

    struct Field {
        var name: String
        var text: String
        /// `optional` if its value may be null or it may be left out.
        var type: ValueType
        /// Whether it is always in the object, even if it is null.
        var isAlwaysThere: Bool
    }

    struct ProblemKind {
        var slug: String
        var title: String
        var status: Int
        var text: String
    }

    struct Operation {
        var id: String
        /// The only tag of the operation.
        var tag: String
        var method: String
        var path: String
        var text: String
        /// A key needs one of these scopes. Empty: any key, except one that only belongs to an app. `nil`: no key is
        /// needed.
        var scopes: [String]?
        var query: [Field] = []
        var takesIdempotencyKey = false
        var takesInstallationSecret = false
        var request: String?
        /// `nil`: no body. An empty name: the body is not JSON.
        var answer: String?
    }
}

struct ContractFault: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

extension Contract {
    init(_ root: Node) throws {
        let components = try root.member("components")
        let reader = Reader(components: components)
        let rooms = try Rooms(root)
        for (name, node) in try components.member("schemas").pairs() {
            schemas.append(try reader.schema(name, node, in: rooms.rooms[name] ?? Rooms.others))
        }
        let kinds = try components.member("schemas").member("ProblemKind")
        let texts = try kinds.member("x-enum-descriptions")
        for (slug, node) in try kinds.member("x-problems").pairs() {
            guard let status = node["status"]?.sequence?.first?.int else {
                throw ContractFault("x-problems of ProblemKind: \(slug) has no status")
            }
            problems.append(
                ProblemKind(
                    slug: slug, title: try node.member("title").text(), status: status,
                    text: try texts.member(slug).text()))
        }
        for (path, item) in try root.member("paths").pairs() {
            for (method, node) in try item.pairs() where node["operationId"] != nil {
                operations.append(try reader.operation(method, path, node))
            }
        }
    }
}

/// Reads nodes and the components that they refer to.
private struct Reader {
    let components: Node

    func schema(_ name: String, _ node: Node, in room: String) throws -> Contract.Schema {
        Contract.Schema(
            name: name, room: room, text: node["description"]?.string ?? "", shape: try shape(name, node))
    }

    private func shape(_ name: String, _ node: Node) throws -> Contract.Shape {
        if node["enum"] != nil, node["type"]?.string == "string" {
            let texts = node["x-enum-descriptions"]
            return .words(
                try node.member("enum").elements().map { word in
                    let word = try word.text()
                    return (word, texts?[word]?.string ?? "")
                })
        }
        let isRaw = node["x-raw"]?.bool == true
        if isRaw, node["properties"] == nil, node["additionalProperties"]?.mapping == nil { return .plain(.raw) }
        if node["anyOf"] != nil {
            let cases = try node.member("x-cases").elements().map { try $0.text() }
            let types = try node.member("anyOf").elements().map(type)
            guard cases.count == types.count else { throw ContractFault("\(name): x-cases and anyOf differ") }
            return .union(Array(zip(cases, types)).map { (name: $0.0, type: $0.1) })
        }
        guard node["properties"] != nil else { return .plain(try type(node)) }
        let members = try node.member("properties").pairs().map(\.0)
        if members == ["items", "nextCursor"] {
            let items = try node.member("properties").member("items")
            return .page(of: try type(try items.member("items")))
        }
        let required = Set(try node["required"]?.elements().map { try $0.text() } ?? [])
        return .object(
            try node.member("properties").pairs().map { member, node in
                try field(member, node, isRequired: required.contains(member))
            })
    }

    private func field(_ name: String, _ node: Node, isRequired: Bool) throws -> Contract.Field {
        var type = try type(node)
        if isRequired, type == .secret { throw ContractFault("\(name): a repeated answer has no secret") }
        if !isRequired, !type.isOptional { type = .optional(type) }
        var text = node["description"]?.string ?? ""
        if let target = try reference(node) ?? node["anyOf"]?.elements().lazy.compactMap(reference).first,
            let more = target["description"]?.string
        {
            text = text.isEmpty ? more : text
        }
        return Contract.Field(name: name, text: text, type: type, isAlwaysThere: isRequired)
    }

    private func reference(_ node: Node) throws -> Node? {
        guard let name = node["$ref"]?.string?.split(separator: "/") else { return nil }
        return try components.member(String(name[2])).member(String(name[3]))
    }

    func type(_ node: Node) throws -> Contract.ValueType {
        if let target = try reference(node) {
            let name = String(node["$ref"]?.string?.split(separator: "/").last ?? "")
            switch try shape(name, target) {
            case .plain(let plain): return plain
            case .object where target["x-raw"]?.bool == true: return .raw
            case .words, .object, .page, .union: return .named(name)
            }
        }
        if let choices = try node["anyOf"]?.elements() {
            let types = try choices.filter { $0["type"]?.string != "null" }.map(type)
            guard let first = types.first else { throw ContractFault("anyOf without a type") }
            return types.count < choices.count ? .optional(first) : first
        }
        // Without a type it may be any JSON.
        if node["type"] == nil, node["x-raw"]?.bool == true { return .raw }
        let words = try node["type"]?.sequence.map { try $0.map { try $0.text() } } ?? [try node.member("type").text()]
        guard let word = words.first else { throw ContractFault("type is empty") }
        let type = try plain(word, node)
        return words.contains("null") ? .optional(type) : type
    }

    private func plain(_ word: String, _ node: Node) throws -> Contract.ValueType {
        switch word {
        case "string":
            if node["x-secret"]?.bool == true { return .secret }
            return node["format"]?.string == "date-time" ? .date : .string
        case "integer": return .integer
        case "number": return .number
        case "boolean": return .boolean
        case "array": return .array(try type(try node.member("items")))
        case "object":
            guard let values = node["additionalProperties"], values.mapping != nil else { return .raw }
            return .map(try type(values))
        default: throw ContractFault("There is no Swift type for \(word)")
        }
    }

    func operation(_ method: String, _ path: String, _ node: Node) throws -> Contract.Operation {
        var operation = Contract.Operation(
            id: try node.member("operationId").text(), tag: try node.member("tags").elements().first?.text() ?? "",
            method: method, path: path, text: node["summary"]?.string ?? "", scopes: try scopes(node["security"]))
        for parameter in try node["parameters"]?.elements() ?? [] {
            let parameter = try reference(parameter) ?? parameter
            let name = try parameter.member("name").text()
            switch (try parameter.member("in").text(), name) {
            case ("query", _):
                var type = try type(try parameter.member("schema"))
                if !type.isOptional { type = .optional(type) }
                operation.query.append(
                    Contract.Field(
                        name: name, text: parameter["description"]?.string ?? "", type: type, isAlwaysThere: false))
            case ("header", "Idempotency-Key"): operation.takesIdempotencyKey = true
            case ("header", "Grandstand-Installation-Secret"): operation.takesInstallationSecret = true
            default: break
            }
        }
        if let body = try node["requestBody"]?.member("content").pairs().first {
            operation.request = body.1["schema"]?["$ref"]?.string?.split(separator: "/").last.map(String.init)
        }
        for (status, response) in try node.member("responses").pairs() where status.hasPrefix("2") {
            guard let content = try response["content"]?.pairs().first else { continue }
            operation.answer = try answer(content.1["schema"])
        }
        return operation
    }

    /// The first of several alternatives, which has the most members.
    private func answer(_ schema: Node?) throws -> String {
        let named = try schema?["anyOf"]?.elements().first ?? schema?["oneOf"]?.elements().first ?? schema
        return named?["$ref"]?.string?.split(separator: "/").last.map(String.init) ?? ""
    }

    private func scopes(_ security: Node?) throws -> [String]? {
        guard let security else { return [] }
        let alternatives = try security.elements()
        if alternatives.isEmpty { return nil }
        return try alternatives.flatMap { try $0.pairs().flatMap { try $0.1.elements().map { try $0.text() } } }
    }
}

/// Assigns each schema to a file.
private struct Rooms {
    /// The file of schemas that no operation uses.
    static let others = "others"

    private(set) var rooms: [String: String] = [:]
    private let components: Node

    init(_ root: Node) throws {
        components = try root.member("components")
        let operations = try root.member("paths").pairs().flatMap { try $0.1.pairs().map(\.1) }
        try collect(try components.member("schemas").member("Problem"), in: "problems")
        rooms["Problem"] = "problems"
        for tag in try root.member("tags").elements().map({ try $0.member("name").text() }) {
            for operation in operations
            where try operation["tags"]?.elements().contains(where: { try $0.text() == tag }) ?? false {
                try collect(operation, in: tag)
            }
        }
    }

    private mutating func collect(_ node: Node, in room: String) throws {
        for (name, member) in node.mapping.map(Array.init) ?? [] {
            guard name.string == "$ref", let path = member.string?.split(separator: "/").map(String.init) else {
                try collect(member, in: room)
                continue
            }
            if path[2] == "schemas" {
                guard rooms[path[3]] == nil else { continue }
                rooms[path[3]] = room
            }
            try collect(try components.member(path[2]).member(path[3]), in: room)
        }
        for element in node.sequence.map(Array.init) ?? [] { try collect(element, in: room) }
    }
}

extension Contract.ValueType {
    var isOptional: Bool { if case .optional = self { true } else { false } }
}

extension Node {
    func member(_ name: String) throws -> Node {
        guard let node = self[name] else { throw ContractFault("There is no \(name)") }
        return node
    }

    func pairs() throws -> [(String, Node)] {
        guard let mapping else { throw ContractFault("A mapping was expected") }
        return mapping.map { ($0.key.string ?? "", $0.value) }
    }

    func elements() throws -> [Node] {
        guard let sequence else { throw ContractFault("A sequence was expected") }
        return Array(sequence)
    }

    func text() throws -> String {
        guard let string else { throw ContractFault("A text was expected") }
        return string
    }
}
