internal import JSON

/// A text with names in braces, such as `{home} – {away}`. `{{` and `}}` stand for single braces.
struct Template: Sendable {
    private let text: String

    // Made once, because an expression takes a hundred times as long to compile as to match. A match does not change it.
    nonisolated(unsafe) private static let part = /\{\{|\}\}|\{([^{}]+)\}/

    /// `nil`: a brace has no partner, or a name is empty.
    init?(_ text: String) {
        if text.replacing(Self.part, with: "").contains(where: { "{}".contains($0) }) { return nil }
        self.text = text
    }

    static let rule = "Write names in braces, such as {home}. Write a brace that is part of the text twice."

    /// - Parameter value: returns the value of a name; `nil`: there is none.
    /// - Returns: `nil`: a name has no value.
    func filled(_ value: (String) -> String?) -> String? {
        var isComplete = true
        let filled = text.replacing(Self.part) { part in
            guard let name = part.output.1 else { return String(part.output.0.prefix(1)) }
            let value = value(String(name))
            isComplete = isComplete && value != nil
            return value ?? ""
        }
        return isComplete ? filled : nil
    }
}

/// JSON whose strings are templates. The names of members are not templates.
extension JSONValue {
    /// All strings in the value, in the order written, with their pointers.
    func strings(at pointer: String) -> [(pointer: String, value: JSONValue)] {
        switch kind {
        case .null, .bool, .number: []
        case .string: [(pointer, self)]
        case .array(let elements): elements.enumerated().flatMap { $1.strings(at: "\(pointer)/\($0)") }
        case .object(let members): members.flatMap { $1.strings(at: pointer + JSONText.pointer([$0])) }
        }
    }

    /// The text of the value, with its strings filled in.
    ///
    /// - Returns: `nil`: a name has no value.
    func filled(_ value: (String) -> String?) -> [UInt8]? {
        var text: [UInt8] = []
        var place = source.startIndex
        for (_, string) in strings(at: "") {
            guard let template = string.string.flatMap(Template.init) else { continue }
            guard let filled = template.filled(value) else { return nil }
            text += source[place..<string.source.startIndex]
            text += JSONText.quoted(filled).utf8
            place = string.source.endIndex
        }
        return text + source[place...]
    }
}
