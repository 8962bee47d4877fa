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
        write(value, 0, to: &text, upTo: maximumBytes)
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

    private static func write(_ value: JSONValue, _ depth: Int, to text: inout [UInt8], upTo limit: Int) {
        guard text.count <= limit else { return }
        switch value.kind {
        case .array(let elements) where elements.contains(where: \.isNested):
            write(elements.map { (nil, $0) }, "[", "]", depth, to: &text, upTo: limit)
        case .object(let members) where !members.isEmpty:
            write(members.map { ($0.name, $0.value) }, "{", "}", depth, to: &text, upTo: limit)
        default: text += value.source
        }
    }

    private static func write(
        _ members: [(name: String?, value: JSONValue)], _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ depth: Int,
        to text: inout [UInt8], upTo limit: Int
    ) {
        let indent = Array(repeating: UInt8(ascii: " "), count: 2 * depth)
        text.append(UInt8(ascii: open))
        for (place, member) in members.enumerated() where text.count <= limit {
            text += place == 0 ? "\n".utf8 : ",\n".utf8
            text += indent + "  ".utf8
            if let name = member.name { text += "\(JSONText.quoted(name)): ".utf8 }
            write(member.value, depth + 1, to: &text, upTo: limit)
        }
        text += "\n".utf8
        text += indent
        text.append(UInt8(ascii: close))
    }
}

extension JSONValue {
    /// Whether this value is an array or object with at least one value in it. An array that contains such a value is
    /// written on separate lines.
    fileprivate var isNested: Bool {
        switch kind {
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        default: false
        }
    }
}
