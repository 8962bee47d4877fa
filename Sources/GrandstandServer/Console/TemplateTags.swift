/// The tags of a Mustache template. They are checked before the template is used.
struct TemplateTags {
    /// The text between the braces, in order: `#rows`, `>time`, `name`.
    let tags: [String]

    init(_ text: String) {
        var tags: [String] = []
        var rest = text[...]
        while let (start, end) = Self.next(in: rest) {
            tags.append(String(rest[start..<end]))
            rest = rest[end...]
        }
        self.tags = tags
    }

    /// The names of the partials and parents that this template uses.
    var parts: [String] {
        tags.filter { $0.hasPrefix(">") || $0.hasPrefix("<") }.map { String($0.dropFirst()).trimmed }
    }

    /// Whether a tag disables escaping. No template may have such a tag.
    var hasUnescaped: Bool { tags.contains { $0.hasPrefix("{") || $0.hasPrefix("&") || $0.hasPrefix("=") } }

    private static func next(in text: Substring) -> (Substring.Index, Substring.Index)? {
        var index = text.startIndex
        while let open = text[index...].firstIndex(of: "{") {
            let second = text.index(after: open)
            guard second < text.endIndex, text[second] == "{" else {
                index = second
                continue
            }
            let start = text.index(after: second)
            let end = text[start...].firstIndex(of: "}") ?? text.endIndex
            return (start, end)
        }
        return nil
    }
}
