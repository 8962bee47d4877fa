internal import JSON

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
