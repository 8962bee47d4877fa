/// A text with names in braces, such as `{home} – {away}`. `{{` and `}}` stand for single braces.
struct Template: Sendable {
    private enum Part {
        case text(String)
        case name(String)
    }

    private var parts: [Part] = []

    init() {}

    /// `nil`: a brace has no partner, or a name is empty.
    init?(_ text: String) {
        var literal = ""
        var rest = Substring(text)
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            literal += rest[..<brace]
            let character = rest[brace]
            rest = rest[brace...].dropFirst()
            if rest.first == character {
                literal.append(character)
                rest = rest.dropFirst()
                continue
            }
            guard character == "{", let end = rest.firstIndex(of: "}"), end > rest.startIndex else { return nil }
            if !literal.isEmpty { parts.append(.text(literal)) }
            literal = ""
            let name = String(rest[..<end])
            guard !name.contains("{") else { return nil }
            parts.append(.name(name))
            rest = rest[end...].dropFirst()
        }
        literal += rest
        if !literal.isEmpty { parts.append(.text(literal)) }
    }

    static let rule = "Write names in braces, such as {home}. Write a brace that is part of the text twice."

    /// - Parameter value: returns the value of a name; `nil`: there is none.
    /// - Returns: `nil`: a name has no value.
    func filled(_ value: (String) -> String?) -> String? {
        var text = ""
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .name(let name):
                guard let value = value(name) else { return nil }
                text += value
            }
        }
        return text
    }
}
