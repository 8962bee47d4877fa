/// What openapi.yaml says of the members of bodies, for the help texts of forms. The file has one line for each member
/// and for each word of an enumeration.
enum ContractHelp {
    private static let texts = read(EmbeddedFiles.texts["openapi.yaml"] ?? "")

    /// The description of a member of a schema, or of what it refers to.
    static func text(of schema: String, _ member: String) -> String? {
        guard let line = texts["\(schema).\(member)"],
            let text = value(of: "description", in: line) ?? reference(in: line).flatMap({ texts[$0] })
        else { return nil }
        return text + (value(of: "default", in: line).map { " Empty: \($0)." } ?? "")
    }

    /// The description of a word that a member can have.
    static func text(of schema: String, _ member: String, _ word: String) -> String? {
        self.schema(of: schema, member).flatMap { texts["\($0).\(word)"] }
    }

    /// The schema of a member.
    static func schema(of schema: String, _ member: String) -> String? {
        texts["\(schema).\(member)"].flatMap(reference)
    }

    /// Lines by `Schema.member` or `Schema.word`, and the descriptions of schemas by their names.
    private static func read(_ contract: String) -> [String: String] {
        var texts: [String: String] = [:]
        var schema = ""
        var isFolded = false
        let schemas = contract.split(separator: "\n").drop { $0 != "  schemas:" }.dropFirst()
        for line in schemas.prefix(while: { $0.hasPrefix("   ") }) {
            let text = line.drop { $0 == " " }
            let (name, rest) = (text.prefix { $0 != ":" }, String(text.drop { $0 != ":" }.dropFirst()).trimmed)
            switch line.count - text.count {
            case 4: schema = String(name)
            case 6:
                isFolded = name == "description" && rest == ">-"
                if name == "description", !isFolded { texts[schema] = unquoted(rest[...]) ?? rest }
            case 8 where isFolded: texts[schema] = (texts[schema].map { $0 + " " } ?? "") + text
            case 8: texts["\(schema).\(unquoted(name) ?? String(name))"] = unquoted(rest[...]) ?? rest
            default: break
            }
        }
        return texts
    }

    private static func value(of name: String, in line: String) -> String? {
        guard let start = line.firstRange(of: name + ": ")?.upperBound else { return nil }
        return unquoted(line[start...]) ?? String(line[start...].prefix { $0 != "," && $0 != "}" })
    }

    private static func reference(in line: String) -> String? {
        guard let start = line.firstRange(of: "#/components/schemas/")?.upperBound else { return nil }
        return String(line[start...].prefix { $0 != "\"" })
    }

    /// The quoted YAML text at the beginning of `text`; `nil`: it has no quotation marks.
    private static func unquoted(_ text: Substring) -> String? {
        guard text.hasPrefix("\"") else { return nil }
        var plain = ""
        var isEscaped = false
        for character in text.dropFirst() {
            if !isEscaped, character == "\"" { break }
            isEscaped = !isEscaped && character == "\\"
            if !isEscaped { plain.append(character) }
        }
        return plain
    }
}
