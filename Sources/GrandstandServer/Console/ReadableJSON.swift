internal import Grandstand
internal import JSON

/// JSON formatted for people, one member a line. Names, strings and numbers stay as they were written.
enum ReadableJSON {
    /// - Returns: the formatted JSON. Text that is not JSON is not formatted. Text longer than `maximumBytes` is cut.
    static func text(_ bytes: [UInt8], maximumBytes: Int = 20_000) -> String {
        guard let value = try? JSONValue(parsing: bytes, maximumValues: .max) else {
            return escaped(String(decoding: bytes.prefix(maximumBytes), as: UTF8.self))
        }
        var text: [UInt8] = []
        write(value, "", to: &text, upTo: maximumBytes)
        let isCut = text.count > maximumBytes
        return escaped(String(decoding: text.prefix(maximumBytes), as: UTF8.self)) + (isCut ? "…" : "")
    }

    /// JSON in one line without white space. Text that is not JSON is unchanged.
    static func line(_ bytes: [UInt8]) -> String {
        let compact = (try? JSONValue(parsing: bytes, maximumValues: .max))?.compact ?? bytes
        return escaped(String(decoding: compact.prefix(500), as: UTF8.self))
    }

    /// JSON text in which characters that are invisible or change the text's direction are escaped, for example as
    /// `\u202e`. The JSON's meaning stays the same. If a form shows the escaped text, the browser sends the escaped
    /// text back unchanged.
    static func escaped(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: HTMLText.isDeceptive) else { return json }
        var text = ""
        for scalar in json.unicodeScalars where scalar != "\r" {
            if HTMLText.isDeceptive(scalar), scalar.value <= 0xFFFF {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func write(_ value: JSONValue, _ indent: String, to text: inout [UInt8], upTo limit: Int) {
        guard text.count <= limit else { return }
        let parts: [(name: String?, value: JSONValue)]
        switch value.kind {
        // An array of plain values stays on one line.
        case .array(let elements)
        where elements.contains(where: { $0.elements?.isEmpty == false || !$0.members.isEmpty }):
            parts = elements.map { (nil, $0) }
        case .object(let members) where !members.isEmpty: parts = members.map { ($0.name, $0.value) }
        default:
            text += value.source
            return
        }
        let isArray = value.elements != nil
        text += (isArray ? "[" : "{").utf8
        for (place, part) in parts.enumerated() where text.count <= limit {
            let name = part.name.map { "\(JSONText.quoted($0)): " } ?? ""
            text += "\(place == 0 ? "" : ",")\n\(indent)  \(name)".utf8
            write(part.value, indent + "  ", to: &text, upTo: limit)
        }
        text += "\n\(indent)\(isArray ? "]" : "}")".utf8
    }
}
