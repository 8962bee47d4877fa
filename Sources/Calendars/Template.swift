/// A text with names in braces, such as `{home} – {away}`. `{{` and `}}` stand for single braces.
package struct Template: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case text(String)
        case name(String)
    }

    private var parts: [Part] = []

    /// `nil`: a brace has no partner, or a name is empty.
    package init?(_ text: String) {
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

    package static let rule = "Write names in braces, such as {home}. Write a brace that is part of the text twice."

    package var names: Set<String> {
        Set(parts.compactMap { if case .name(let name) = $0 { name } else { nil } })
    }

    /// A name has no value.
    package struct Missing: Error, Hashable {
        package var name: String
    }

    /// - Parameter value: returns the value of a name; `nil`: there is none.
    package func filled(_ value: (String) -> String?) throws(Missing) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .name(let name):
                guard let value = value(name) else { throw Missing(name: name) }
                text += value
            }
        }
        return text
    }
}
