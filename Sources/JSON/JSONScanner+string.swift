extension JSONScanner {
    /// Reads the string that begins here, and resolves its escapes.
    package mutating func string() throws(JSONFault) -> String {
        let start = index + 1
        guard try skipString() else { return String(decoding: text[start..<index - 1], as: UTF8.self) }
        var inside = self
        inside.index = start
        return try inside.unescaped(to: index - 1)
    }

    /// - Returns: whether the string has escapes.
    mutating func skipString() throws(JSONFault) -> Bool {
        index += 1
        var hasEscapes = false
        while true {
            skipPlain()
            switch peek {
            case UInt8(ascii: "\"")?:
                index += 1
                return hasEscapes
            case UInt8(ascii: "\\")?:
                _ = try escape()
                hasEscapes = true
            case nil: throw fault("The text ends inside a string")
            default: throw fault("A string contains an unescaped control character")
            }
        }
    }

    /// A valid JSON text with the characters themselves in place of escapes `\u`, where JSON does not require them.
    package static func withoutUnicodeEscapes(_ json: [UInt8]) -> [UInt8] {
        guard var scanner = try? JSONScanner(json, maximumDepth: 0) else { return json }
        scanner.index = 0
        var plain: [UInt8] = []
        while scanner.index < json.count {
            let start = scanner.index
            guard json[start] == UInt8(ascii: "\\") else {
                plain.append(json[start])
                scanner.index += 1
                continue
            }
            guard let scalar = try? scanner.escape() else { return json }
            let isNeeded = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            if json[start + 1] == UInt8(ascii: "u"), !isNeeded {
                plain += String(scalar).utf8
            } else {
                plain += json[start..<scanner.index]
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

    /// The content of a string that was already checked, with its escapes resolved.
    private mutating func unescaped(to end: Int) throws(JSONFault) -> String {
        var content: [UInt8] = []
        while index < end {
            let start = index
            skipPlain()
            content += text[start..<index]
            if index < end { content += String(try escape()).utf8 }
        }
        return String(decoding: content, as: UTF8.self)
    }

    private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
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
