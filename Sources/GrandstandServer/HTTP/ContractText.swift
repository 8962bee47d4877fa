/// The contract of this version.
package enum ContractText {
    /// The text of openapi.yaml.
    package static let yaml = EmbeddedFiles.texts["openapi.yaml"] ?? ""

    /// The lines below a method of a path, or below a component.
    ///
    /// - Parameter section: the path, or a word such as `schemas`.
    static func block(_ section: String, _ name: String) -> ContractBlock {
        ContractBlock(lines: blocks["\(section) \(name)"] ?? [])
    }

    /// What a member of a schema means, and its default; `nil`: the schema has no such member.
    package static func help(_ schema: String, _ member: String) -> String? {
        guard let line = block("schemas", schema)[member: member] else { return nil }
        let text = line.value("description") ?? line.reference.map { block("schemas", $0)["description"] }
        return text.map { $0 + (line.value("default").map { " Empty: \($0)." } ?? "") }
    }

    /// What a word means that a member can have.
    static func help(_ schema: String, _ member: String, word: String) -> String? {
        self.schema(of: schema, member).flatMap { block("schemas", $0)[member: word]?.plain }
    }

    /// The schema of a member.
    static func schema(of schema: String, _ member: String) -> String? {
        block("schemas", schema)[member: member]?.reference
    }

    /// By section and name. The reading is simple, because the file has one form: two spaces for each level, a member or a
    /// word on each line, and every parameter by its name in `components`.
    private static let blocks: [String: [Substring]] = {
        var blocks: [String: [Substring]] = [:]
        var (section, name) = ("", "")
        for line in yaml.split(separator: "\n") {
            switch line.depth {
            case 0...2: section = line.name
            case 3...4: name = "\(section) \(line.name)"
            default: blocks[name, default: []].append(line)
            }
        }
        return blocks
    }()
}

/// The lines of openapi.yaml below a name.
struct ContractBlock {
    let lines: [Substring]

    /// The text of a member, also of one that is folded over several lines; empty if there is none.
    subscript(name: String) -> String {
        let start = "      \(name): "
        guard let place = lines.firstIndex(where: { $0.hasPrefix(start) }) else { return "" }
        let value = lines[place].dropFirst(start.count)
        guard value.hasPrefix(">") else { return value.plain }
        return lines[(place + 1)...].prefix { $0.depth > 6 }.map { String($0).trimmed }.joined(separator: " ")
    }

    /// The value of an inner member, such as a property or a word of an enumeration.
    subscript(member name: String) -> Substring? {
        lines.first { $0.depth == 8 && $0.name == name }?.drop { $0 != ":" }.dropFirst(2)
    }

    /// The first of the lines that refers to a component.
    var reference: String? { lines.lazy.compactMap(\.reference).first }
}

extension Substring {
    fileprivate var depth: Int { utf8.prefix { $0 == UInt8(ascii: " ") }.count }

    /// The name at the beginning of the line.
    fileprivate var name: String { drop { $0 == " " }.prefix { $0 != ":" }.plain }

    /// The component that the line refers to.
    var reference: String? {
        guard let start = firstRange(of: "#/components/")?.upperBound else { return nil }
        return String(self[start...].prefix { $0 != "\"" }.drop { $0 != "/" }.dropFirst())
    }

    /// The value of a member within braces.
    func value(_ name: String) -> String? {
        guard let start = firstRange(of: name + ": ")?.upperBound else { return nil }
        let value = self[start...]
        return value.hasPrefix("\"") ? value.plain : String(value.prefix { $0 != "," && $0 != "}" })
    }

    /// The text, without quotation marks at both ends.
    var plain: String {
        guard hasPrefix("\"") else { return String(self) }
        var plain = ""
        var isEscaped = false
        for character in dropFirst() {
            if !isEscaped, character == "\"" { break }
            isEscaped = !isEscaped && character == "\\"
            if !isEscaped { plain.append(character) }
        }
        return plain
    }
}
