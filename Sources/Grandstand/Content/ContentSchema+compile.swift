package import JSON

extension ContentSchema {
    /// Compiles a JSON Schema document. Returns `nil` if there are faults; `faults` then lists them with their places.
    ///
    /// - Parameter pointer: the document's place in the request, a JSON Pointer.
    package init?(_ document: JSONValue, pointer: String, faults: inout FaultList) {
        var compiler = Compiler(document: document, root: pointer)
        _ = compiler.schema(at: [])
        if compiler.faults.isEmpty { compiler.refuseCircles() }
        faults.append(contentsOf: compiler.faults)
        guard compiler.faults.isEmpty else { return nil }
        self.init(nodes: compiler.nodes)
    }

    private struct Compiler {
        let document: JSONValue
        let root: String
        var nodes: [Node] = []
        var faults = FaultList()
        /// The indices of schemas by their paths. A schema is added before its parts are read, so that it may refer to
        /// itself.
        var indices: [[String]: Int] = [:]
        /// The number of schemas that are being compiled now. Each of these schemas is contained in the previous one,
        /// or the previous one refers to it.
        var depth = 0
        private static let mostDepth = 100

        mutating func schema(at path: [String]) -> Int {
            if let index = indices[path] { return index }
            let index = nodes.count
            indices[path] = index
            nodes.append(Node())
            guard nodes.count <= ContentSchema.mostNodes else {
                addFault(path, "The document has more than \(ContentSchema.mostNodes) schemas.")
                return index
            }
            guard let value = value(at: path) else {
                addFault(path, "There is no schema here.")
                return index
            }
            guard depth < Self.mostDepth else {
                addFault(path, "Schemas are nested more than \(Self.mostDepth) levels deep here.")
                return index
            }
            depth += 1
            defer { depth -= 1 }
            nodes[index] = node(value, path)
            return index
        }

        private mutating func node(_ value: JSONValue, _ path: [String]) -> Node {
            var node = Node()
            if case .bool(let isAny) = value.kind {
                node.isNever = !isAny
                return node
            }
            guard case .object(let members) = value.kind else {
                addFault(path, "A schema was expected: an object, true or false.")
                return node
            }
            for (keyword, value) in members {
                read(keyword, value, path + [keyword], at: path, into: &node)
            }
            // Only now all types are known.
            for (keyword, value) in members where keyword == "enum" || keyword == "const" {
                node.allowed.append(AllowedValues(keyword == "const" ? [value] : value.elements ?? [], node.types))
            }
            return node
        }

        private mutating func read(
            _ keyword: String, _ value: JSONValue, _ path: [String], at schema: [String], into node: inout Node
        ) {
            switch keyword {
            case "type":
                let words = value.elements ?? [value]
                node.types = words.compactMap { $0.string.flatMap(ValueType.init) }
                if words.isEmpty || node.types?.count != words.count {
                    addFault(
                        path,
                        "One of \(ValueType.allCases.map(\.rawValue).joined(separator: ", ")) was expected, or a "
                            + "list of them."
                    )
                }
            case "properties", "$defs":
                guard case .object(let members) = value.kind else { return addFault(path, "An object was expected.") }
                for member in members {
                    let schema = self.schema(at: path + [member.name])
                    if keyword == "properties" { node.properties[member.name] = schema }
                }
            case "required":
                node.required = value.elements?.compactMap(\.string) ?? []
                if value.elements.map({ $0.count != node.required.count }) ?? true {
                    addFault(path, "A list of names was expected.")
                }
            case "additionalProperties": node.additional = self.schema(at: path)
            case "items": node.items = self.schema(at: path)
            case "enum":
                if value.elements?.isEmpty ?? true { addFault(path, "A list of values was expected.") }
            case "const": break
            case "minimum": node.minimum = readBound(value, path)
            case "maximum": node.maximum = readBound(value, path)
            case "maxLength": node.maxLength = readCount(value, path)
            case "maxItems": node.maxItems = readCount(value, path)
            case "anyOf":
                node.anyOf = (value.elements ?? []).indices.map { self.schema(at: path + [String($0)]) }
                if node.anyOf.isEmpty { addFault(path, "A list of schemas was expected.") }
            case "$ref":
                guard let text = value.string, text.hasPrefix("#"),
                    text == "#" || JSONPointer(String(text.dropFirst())) != nil
                else { return addFault(path, "A place in this document was expected, such as #/$defs/Team.") }
                node.reference = self.schema(at: JSONPointer(String(text.dropFirst()))?.names ?? [])
            case "format":
                node.format = value.string.flatMap(Format.init)
                if node.format == nil {
                    addFault(path, "One of \(Format.allCases.map(\.rawValue).joined(separator: ", ")) was expected.")
                }
            default:
                addFault(path, "The keyword \(keyword.quotedJSON) is not known here.")
            }
        }

        private mutating func readBound(_ value: JSONValue, _ path: [String]) -> Bound? {
            guard case .number(let text) = value.kind else {
                addFault(path, "A number was expected.")
                return nil
            }
            return (JSONNumber(text), text)
        }

        private mutating func readCount(_ value: JSONValue, _ path: [String]) -> Int? {
            guard case .number(let text) = value.kind, let count = Int(text), count >= 0 else {
                addFault(path, "A whole number from 0 was expected.")
                return nil
            }
            return count
        }

        /// The JSON value at a path. The path leads through objects and arrays.
        private func value(at path: [String]) -> JSONValue? {
            path.reduce(Optional(document)) { value, name in
                guard let value else { return nil }
                if let elements = value.elements {
                    return Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
                }
                return value[name]
            }
        }

        /// Refuses a schema from which `$ref` and `anyOf` lead back to itself for the same value, because its check would
        /// not end.
        mutating func refuseCircles() {
            let schema = ContentSchema(nodes: nodes)
            for (path, index) in indices.sorted(by: { $0.value < $1.value })
            where schema.withAlternatives(Set(nodes[index].alternatives)).contains(index) {
                return addFault(
                    path, "$ref and anyOf lead from this schema back to itself without reaching a part of the value.")
            }
        }

        private mutating func addFault(_ path: [String], _ detail: String) {
            faults.append(FieldError(pointer: root + PointerText.pointer(path), detail: detail))
        }
    }
}
