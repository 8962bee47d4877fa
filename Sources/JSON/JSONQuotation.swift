extension [UInt8] {
    /// Appends `text` as a JSON string with its quotation marks. Only what RFC 8259 requires is escaped.
    package mutating func append(quoted text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            // Most texts need no escapes.
            let needsEscapes = bytes.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
            if needsEscapes { for byte in bytes { append(escaped: byte) } } else { append(contentsOf: bytes) }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): self += #"\""#.utf8
        case UInt8(ascii: "\\"): self += #"\\"#.utf8
        case 0x0A: self += #"\n"#.utf8
        case 0x0D: self += #"\r"#.utf8
        case 0x09: self += #"\t"#.utf8
        case 0..<0x20: self += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
        default: append(byte)
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character, or a separator of lines or paragraphs.
    package var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        default: false
        }
    }
}

extension String {
    /// The text as a JSON string with its quotation marks.
    package var quotedJSON: String {
        var bytes: [UInt8] = []
        bytes.append(quoted: self)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with its control characters as `\u001b`. For logs and terminals: such a text forges no line and sends
    /// no command to a terminal.
    package var escapingControls: String { escaping(\.isControl) }

    /// The text with some of its characters below U+10000 as `\u202e`.
    package func escaping(_ isEscaped: (Unicode.Scalar) -> Bool) -> String {
        var text = ""
        for scalar in unicodeScalars {
            if isEscaped(scalar) {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
