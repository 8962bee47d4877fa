extension JSONParser {
    /// Reads the string that begins here, and resolves its escapes.
    mutating func string() throws(JSONFault) -> String {
        index += 1
        // What is before the last escape. Most strings have none.
        var content: ArraySlice<UInt8> = []
        while true {
            let start = index
            skipPlain()
            let plain = text[start..<index]
            switch peek {
            case UInt8(ascii: "\"")?:
                index += 1
                return String(decoding: content.isEmpty ? plain : content + plain, as: UTF8.self)
            case UInt8(ascii: "\\")?:
                content += plain
                content += Array(String(try readEscape()).utf8)
            case nil: throw fault("The text ends inside a string")
            default: throw fault("A string contains an unescaped control character")
            }
        }
    }

    /// A valid JSON text with the characters themselves in place of escapes `\u`, where JSON does not require them.
    package static func withoutUnicodeEscapes(_ json: [UInt8]) -> [UInt8] {
        var parser = JSONParser(json)
        var plain: [UInt8] = []
        while parser.index < json.count {
            let start = parser.index
            guard json[start] == UInt8(ascii: "\\") else {
                plain.append(json[start])
                parser.index += 1
                continue
            }
            guard let scalar = try? parser.readEscape() else { return json }
            let isNeeded = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            if json[start + 1] == UInt8(ascii: "u"), !isNeeded {
                plain += String(scalar).utf8
            } else {
                plain += json[start..<parser.index]
            }
        }
        return plain
    }

    /// Skips bytes up to the end of the string, an escape or a forbidden byte.
    private mutating func skipPlain() {
        index = text.withUnsafeBufferPointer { bytes in
            var index = index
            while index < bytes.count, bytes[index] >= 0x20, bytes[index] != UInt8(ascii: "\""),
                bytes[index] != UInt8(ascii: "\\")
            { index += 1 }
            return index
        }
    }

    private mutating func readEscape() throws(JSONFault) -> Unicode.Scalar {
        index += 1
        guard let byte = peek else { throw fault("The text ends inside a string") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default:
            index -= 1
            throw fault("A string contains an unknown escape")
        }
    }

    private mutating func unicodeEscape() throws(JSONFault) -> Unicode.Scalar {
        let first = try hexQuad()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(UInt16(first)), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw fault("A string contains a lone surrogate")
        }
        let second = try hexQuad()
        guard UTF16.isTrailSurrogate(UInt16(second)),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw fault("A string contains a lone surrogate") }
        return scalar
    }

    private mutating func hexQuad() throws(JSONFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("Four hexadecimal digits were expected after \\u")
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
