extension Contract {
    /// The files with enumerations or objects, in the order of openapi.yaml.
    var rooms: [String] { schemas.map(\.room).reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }

    /// The enumerations and objects of a file.
    func types(of room: String) -> String {
        let schemas = schemas.filter { schema in
            guard case .plain = schema.shape else { return schema.room == room && schema.name != "ProblemKind" }
            return false
        }
        guard !schemas.isEmpty else { return "" }
        var swift = SwiftText(imports: [])
        swift.block("extension Contract") { swift in
            for (index, schema) in schemas.enumerated() {
                if index > 0 { swift.line() }
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
        swift.addImportsOfDates(
            """
            #if canImport(FoundationEssentials)
            public import FoundationEssentials
            #else
            public import Foundation
            #endif

            """)
        return swift.text
    }

    /// All objects by the names of their schemas.
    func values() -> String {
        var swift = SwiftText(imports: [])
        swift.block("extension Contract") { swift in
            swift.document("Every object and union by the name of its schema.")
            swift.line("package static var values: [String: any (Codable & Sendable).Type] {")
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

    private func words(_ schema: Schema, _ words: [(word: String, text: String)], _ swift: inout SwiftText) {
        swift.block("public enum \(schema.name): ContractWord") { swift in
            for (word, text) in words {
                swift.document(text.isEmpty ? "The word \(word)." : text)
                swift.line("case \(SwiftName.word(word))")
            }
            swift.document("A word of a newer server.")
            swift.line("case unknown(String)")
            swift.line()
            swift.line("/// The words that this version knows.")
            let names = words.map { ".\(SwiftName.word($0.word))" }
            swift.line("public static let allCases: [Self] = [\(names.joined(separator: ", "))]")
            swift.line()
            swift.line("/// The word in JSON.")
            swift.block("public var rawValue: String") { swift in
                swift.block("switch self") { swift in
                    for (word, _) in words { swift.line("case .\(SwiftName.word(word)): \"\(word)\"") }
                    swift.line("case .unknown(let word): word")
                }
            }
            swift.line()
            swift.line("/// Any word: one that this version does not know is `unknown`.")
            swift.block("public init(rawValue: String)") { swift in
                swift.line("self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)")
            }
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
                            swift.line("case \(names.joined(separator: ", ")): \(status)")
                        }
                    }
                }
            }
        }
        return swift.text
    }

    private func object(_ schema: Schema, _ fields: [Field], _ swift: inout SwiftText) {
        let optional = fields.filter(\.type.isOptional)
        let writesNulls = optional.contains(where: \.isAlwaysThere)
        let protocols = "Codable, Sendable, Hashable" + (writesNulls ? ", ContractAnswer" : "")
        swift.block("public struct \(schema.name): \(protocols)") { swift in
            for field in fields {
                swift.document(field.text.isEmpty ? "\(field.name)." : field.text)
                guard field.type == .optional(.secret) else {
                    swift.line("public var \(SwiftName.member(field.name)): \(field.type.swift())")
                    continue
                }
                // Printing the object prints its stored members.
                swift.block("public var \(SwiftName.member(field.name)): String?") { swift in
                    swift.line("get { hidden?.rawValue }")
                    swift.line("set { hidden = newValue.map(Secret.init(_:)) }")
                }
                swift.line("private var hidden: Secret?")
            }
            let leftOut = optional.filter { !$0.isAlwaysThere }.map { "\"\($0.name)\"" }
            if writesNulls, !leftOut.isEmpty {
                swift.line()
                swift.line("package static let leftOut = [\(leftOut.joined(separator: ", "))]")
            }
            names(fields, &swift)
            swift.line()
            if let base = Self.bases[schema.name] {
                extend(base, by: fields, &swift)
            } else {
                swift.document("Members that are `nil` are left out.")
                swift.block("public init(\(parameters(fields)))") { swift in
                    for field in fields { assign(field, &swift) }
                }
            }
        }
    }

    /// The names of the members in JSON, if one has another name in Swift.
    private func names(_ fields: [Field], _ swift: inout SwiftText) {
        func name(_ field: Field) -> String {
            field.type == .optional(.secret) ? "hidden" : SwiftName.joined(field.name)
        }
        guard fields.contains(where: { name($0) != $0.name }) else { return }
        swift.line()
        swift.block("private enum CodingKeys: String, CodingKey") { swift in
            for field in fields {
                swift.line("case \(name(field))" + (name(field) == field.name ? "" : " = \"\(field.name)\""))
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
        // A client composes requests, and the server answers.
        let access = name.hasSuffix("Draft") ? "public" : "package"
        swift.document("The members of the other object, and these.")
        swift.block("\(access) init(\(parameters(own)), _ base: \(name))") { swift in
            for field in fields {
                if known[field.name] == field.type {
                    let name = SwiftName.joined(field.name)
                    swift.line("self.\(name) = base.\(name)")
                } else {
                    assign(field, &swift)
                }
            }
        }
    }

    private func assign(_ field: Field, _ swift: inout SwiftText) {
        let name = SwiftName.member(field.name)
        swift.line(
            field.type == .optional(.secret)
                ? "hidden = \(name).map(Secret.init(_:))" : "self.\(SwiftName.joined(field.name)) = \(name)")
    }

    private func parameters(_ fields: [Field]) -> String {
        fields.map { field in
            "\(SwiftName.member(field.name)): \(field.type.swift())" + (field.type.isOptional ? " = nil" : "")
        }.joined(separator: ", ")
    }

    private func union(_ schema: Schema, _ cases: [(name: String, type: ValueType)], _ swift: inout SwiftText) {
        swift.block("public enum \(schema.name): Codable, Sendable, Hashable") { swift in
            for (name, type) in cases { swift.line("case \(SwiftName.member(name))(\(type.swift()))") }
            swift.line()
            swift.document("Decodes the first alternative that fits.")
            swift.block("public init(from decoder: any Decoder) throws") { swift in
                swift.line("let container = try decoder.singleValueContainer()")
                for (name, type) in cases.dropLast() {
                    swift.block("if let value = try? container.decode(\(type.swift()).self)") { swift in
                        swift.line("self = .\(SwiftName.joined(name))(value)")
                        swift.line("return")
                    }
                }
                if let (name, type) = cases.last {
                    swift.line("self = .\(SwiftName.joined(name))(try container.decode(\(type.swift()).self))")
                }
            }
            swift.line()
            swift.document("Encodes the alternative.")
            swift.block("public func encode(to encoder: any Encoder) throws") { swift in
                swift.line("var container = encoder.singleValueContainer()")
                swift.block("switch self") { swift in
                    for (name, _) in cases {
                        swift.line("case .\(SwiftName.joined(name))(let value): try container.encode(value)")
                    }
                }
            }
        }
    }
}
