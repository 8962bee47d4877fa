extension Contract {
    /// The imports of the file with these schemas.
    private static func imports(of schemas: [Schema]) -> [String] {
        func hasDate(_ type: ValueType) -> Bool {
            switch type {
            case .date: true
            case .array(let inner), .map(let inner), .optional(let inner): hasDate(inner)
            case .string, .integer, .number, .keptNumber, .boolean, .raw, .secret, .named: false
            }
        }
        let hasDates = schemas.contains { schema in
            switch schema.shape {
            case .object(let fields): fields.contains { hasDate($0.type) }
            case .union(let cases): cases.contains { hasDate($0.type) }
            case .page, .plain, .words: false
            }
        }
        let hasObjects = schemas.contains { schema in
            switch schema.shape {
            case .object, .union: true
            case .page, .plain, .words: false
            }
        }
        let foundation = [
            "#if canImport(FoundationEssentials)", "public import FoundationEssentials", "#else",
            "public import Foundation", "#endif",
        ]
        return (hasDates ? foundation : []) + (hasObjects ? ["package import JSON"] : [])
    }

    /// The files with enumerations or objects, in the order of openapi.yaml.
    var rooms: [String] { schemas.map(\.room).reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }

    /// The enumerations and objects of a file.
    func types(of room: String) -> String {
        let schemas = schemas.filter { schema in
            guard case .plain = schema.shape else { return schema.room == room && schema.name != "ProblemKind" }
            return false
        }
        guard !schemas.isEmpty else { return "" }
        var swift = SwiftText(imports: Self.imports(of: schemas))
        swift.block("extension Contract") { swift in
            var isFirst = true
            for schema in schemas {
                if !isFirst { swift.line() }
                isFirst = false
                swift.document(schema.text)
                switch schema.shape {
                case .plain: break
                case .words(let words): self.words(schema, words, &swift)
                case .page(let item): swift.line("public typealias \(schema.name) = Page<\(item.swift())>")
                case .object(let fields): object(schema, fields, &swift)
                case .union(let cases): union(schema, cases, &swift)
                }
            }
        }
        return swift.text
    }

    /// All objects by the names of their schemas.
    func values() -> String {
        var swift = SwiftText(imports: [])
        swift.block("extension Contract") { swift in
            swift.document("Every object and union by the name of its schema.")
            swift.line("package static var values: [String: any (ContractValue & Codable).Type] {")
            swift.line("    [")
            for schema in schemas {
                switch schema.shape {
                case .object, .union: swift.line("    \"\(schema.name)\": \(schema.name).self,")
                case .page, .plain, .words: continue
                }
            }
            swift.line("    ]")
            swift.line("}")
        }
        return swift.text
    }

    /// Words are written as their text: that takes no call through a protocol.
    private var words: [ValueType] {
        schemas.compactMap { if case .words = $0.shape { .named($0.name) } else { nil } }
    }

    private func words(_ schema: Schema, _ words: [(word: String, text: String)], _ swift: inout SwiftText) {
        swift.block("public struct \(schema.name): ContractWord") { swift in
            for (word, text) in words {
                swift.document(text.isEmpty ? "The word \(word)." : text)
                swift.line("public static let \(SwiftName.member(word)) = Self(rawValue: \"\(word)\")")
            }
            swift.line()
            swift.line("/// The values that this version knows.")
            swift.line("public static let allCases: [Self] = [")
            for (word, _) in words { swift.line("    .\(SwiftName.joined(word)),") }
            swift.line("]")
            swift.line()
            swift.line("/// The value in JSON.")
            swift.line("public let rawValue: String")
            swift.line()
            swift.line("/// Any value. A newer server may send others than the known ones.")
            swift.line("public init(rawValue: String) { self.rawValue = rawValue }")
        }
    }

    /// The kinds of problems.
    func problemKinds() -> String {
        var swift = SwiftText(imports: [])
        swift.block("extension Contract") { swift in
            swift.document("The kinds of refusals: the last part of a problem's type.")
            swift.block("public enum ProblemKind: String, Sendable, Hashable, CaseIterable") { swift in
                for kind in problems {
                    swift.document(kind.text)
                    let name = SwiftName.member(kind.slug)
                    swift.line("case \(name)" + (name == kind.slug ? "" : " = \"\(kind.slug)\""))
                }
                swift.line()
                swift.line("/// The title of problems of this kind.")
                swift.block("public var title: String") { swift in
                    swift.block("switch self") { swift in
                        for kind in problems {
                            swift.line("case .\(SwiftName.joined(kind.slug)): \"\(kind.title)\"")
                        }
                    }
                }
                swift.line()
                swift.line("/// The HTTP status of problems of this kind.")
                swift.block("public var status: Int") { swift in
                    swift.block("switch self") { swift in
                        for (status, kinds) in Dictionary(grouping: problems, by: \.status).sorted(by: {
                            $0.key < $1.key
                        }) {
                            let names = kinds.map { ".\(SwiftName.joined($0.slug))" }
                            for (index, name) in names.enumerated() {
                                let isLast = index == names.count - 1
                                swift.line((index == 0 ? "case " : "    ") + name + (isLast ? ": \(status)" : ","))
                            }
                        }
                    }
                }
            }
        }
        return swift.text
    }

    private func object(_ schema: Schema, _ fields: [Field], _ swift: inout SwiftText) {
        swift.block("public struct \(schema.name): Sendable, Hashable, Codable, ContractObject") { swift in
            for field in fields {
                swift.document(field.text.isEmpty ? "\(field.name)." : field.text)
                let name = SwiftName.member(field.name)
                if field.type == .optional(.keptNumber) {
                    swift.block("public var \(name): Double?") { swift in
                        swift.line("get { \(name)Text?.value }")
                        swift.line("set { \(name)Text = newValue.map(KeptNumber.init) }")
                    }
                    swift.document("Its text, as it was read.")
                    swift.line("package var \(name)Text: KeptNumber?")
                    continue
                }
                guard field.type == .optional(.secret) else {
                    let observer = schema.isKept ? " { didSet { kept = KeptText() } }" : ""
                    swift.line("public var \(name): \(field.type.swift())\(observer)")
                    continue
                }
                // Printing the object prints its stored members.
                swift.block("public var \(name): String?") { swift in
                    swift.line("get { hidden?.rawValue }")
                    swift.line("set { hidden = newValue.map(Secret.init(_:)) }")
                }
                swift.line("private var hidden: Secret?")
            }
            if schema.isKept { swift.line("private var kept = KeptText()") }
            swift.line()
            swift.line("/// Members that are `nil` are left out.")
            swift.block("public init(\(parameters(fields)))") { swift in
                for field in fields {
                    let name = SwiftName.member(field.name)
                    swift.line(
                        field.type == .optional(.secret)
                            ? "hidden = \(name).map(Secret.init(_:))"
                            : field.type == .optional(.keptNumber)
                                ? "\(name)Text = \(name).map(KeptNumber.init)"
                                : "self.\(SwiftName.joined(field.name)) = \(name)")
                }
            }
            if let base = Self.bases[schema.name] { extend(base, by: fields, &swift) }
            if schema.isKept, fields.allSatisfy(\.type.isOptional) {
                swift.line()
                swift.document("A text that is one already. It is written as it is.")
                swift.block("package init(text: [UInt8])") { swift in
                    swift.line("self = (try? Self(json: JSONValue(decoding: text))) ?? Self()")
                    swift.line("kept = KeptText(text)")
                }
            }
            codable(&swift)
            swift.line()
            swift.block("package init(members object: JSONMembers) throws") { swift in
                for field in fields {
                    let read = field.type.isOptional ? "optional" : "required"
                    let value = "try object.\(read)(\"\(field.name)\")"
                    swift.line(
                        field.type == .optional(.secret)
                            ? "hidden = (\(value)).map(Secret.init(_:))" : "\(stored(field)) = \(value)")
                }
                if schema.isKept { swift.line("kept = KeptText(object)") }
            }
            swift.line()
            swift.block("package func write(members object: inout JSONWriter)") { swift in
                for field in fields { write(field, &swift) }
            }
            if schema.isKept {
                swift.line()
                swift.block("package func write(to json: inout JSONWriter)") { swift in
                    swift.line("kept.write(to: &json) { write(members: &$0) }")
                }
            }
        }
    }

    /// Objects that have all members of another object and some more.
    private static let bases = [
        "BroadcastItem": "BroadcastDraft", "Followable": "Lookup", "IssuedKey": "Key",
        "IssuedWebhook": "Webhook", "ReopenedEvent": "Event", "WebhookDeliveryLog": "WebhookDelivery",
    ]

    /// An initializer from the other object.
    private func extend(_ name: String, by fields: [Field], _ swift: inout SwiftText) {
        guard let schema = schemas.first(where: { $0.name == name }), case .object(let base) = schema.shape else {
            return
        }
        let known = Dictionary(uniqueKeysWithValues: base.map { ($0.name, $0.type) })
        let own = fields.filter { known[$0.name] != $0.type }
        // What a request says is the client's to say; an answer is made by the server only.
        let isRequest = name.hasSuffix("Draft")
        let argument = isRequest ? "draft" : "base"
        swift.line()
        swift.document(isRequest ? "The same of what is said already." : "All members of the other, and these.")
        swift.block("\(isRequest ? "public" : "package") init(\(parameters(own)), _ \(argument): \(name))") { swift in
            for field in fields {
                let isKnown = known[field.name] == field.type
                if field.type == .optional(.secret) {
                    swift.line("hidden = \(SwiftName.joined(field.name)).map(Secret.init(_:))")
                } else if field.type == .optional(.keptNumber) {
                    swift.line("\(stored(field)) = \(argument).\(stored(field))")
                } else {
                    let name = SwiftName.joined(field.name)
                    swift.line("self.\(name) = " + (isKnown ? "\(argument).\(name)" : SwiftName.member(field.name)))
                }
            }
        }
        guard isRequest else { return }
        swift.line()
        swift.document("All of it that the other has, too.")
        swift.block("package var draft: \(name)") { swift in
            let arguments = base.map { "\(SwiftName.joined($0.name)): \(SwiftName.joined($0.name))" }
            swift.line("var draft = \(name)(\(arguments.joined(separator: ", ")))")
            for field in base where field.type == .optional(.keptNumber) {
                swift.line("draft.\(stored(field)) = \(stored(field))")
            }
            swift.line("return draft")
        }
    }

    /// Codable for any encoder. With the API's own encoder, the bytes are kept.
    private func codable(_ swift: inout SwiftText) {
        swift.line()
        swift.line("/// Decodes the JSON of the API.")
        swift.line(
            "public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }")
        swift.line()
        swift.line("/// Encodes the JSON of the API.")
        swift.line(
            "public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }")
    }

    private func parameters(_ fields: [Field]) -> String {
        fields.map { field in
            "\(SwiftName.joined(field.name) == "default" ? "`default`" : SwiftName.joined(field.name)): \(field.type.swift())"
                + (field.type.isOptional ? " = nil" : "")
        }.joined(separator: ", ")
    }

    /// The stored property of the member.
    private func stored(_ field: Field) -> String {
        SwiftName.member(field.name) + (field.type == .optional(.keptNumber) ? "Text" : "")
    }

    /// An optional member is written only if it has a value.
    private func write(_ field: Field, _ swift: inout SwiftText) {
        let name = stored(field)
        let isWord = words.contains(field.type) || words.contains { .optional($0) == field.type }
        guard field.type.isOptional, !field.isAlwaysThere else {
            let text = isWord ? name + (field.type.isOptional ? "?" : "") + ".rawValue" : name
            swift.line("object.member(\"\(field.name)\", \(text))")
            return
        }
        swift.line("if let \(name) { object.member(\"\(field.name)\", \(name)\(isWord ? ".rawValue" : "")) }")
    }

    private func union(_ schema: Schema, _ cases: [(name: String, type: ValueType)], _ swift: inout SwiftText) {
        swift.block("public enum \(schema.name): Sendable, Hashable, Codable, ContractValue") {
            swift in
            for (name, type) in cases { swift.line("case \(SwiftName.member(name))(\(type.swift()))") }
            codable(&swift)
            swift.line()
            swift.block("package init(json: JSONValue) throws") { swift in
                for (name, type) in cases.dropLast() {
                    swift.block("if let value = try? \(type.swift())(json: json)") { swift in
                        swift.line("self = .\(SwiftName.joined(name))(value)")
                        swift.line("return")
                    }
                }
                if let (name, type) = cases.last {
                    swift.line("self = .\(SwiftName.joined(name))(try \(type.swift())(json: json))")
                }
            }
            swift.line()
            swift.block("package func write(to json: inout JSONWriter)") { swift in
                swift.block("switch self") { swift in
                    for (name, _) in cases {
                        swift.line("case .\(SwiftName.joined(name))(let value): value.write(to: &json)")
                    }
                }
            }
        }
    }
}
