/// A strict RFC 8259 scanner: it walks every value and keeps only what `JSONObject` asks for.
struct JSONScanner {
    /// Deeper nesting is not read: recursion must stay bounded, whoever sends it.
    static let maximumDepth = 512

    private let text: [UInt8]
    private(set) var index: Int

    init(_ text: [UInt8], from index: Int) {
        self.text = text
        self.index = index
    }

    /// The whole text as one object.
    mutating func document() -> [String: JSONObject.Value]? {
        skipSpace()
        guard let members = object(depth: 0) else { return nil }
        skipSpace()
        return index == text.count ? members : nil
    }

    /// The object that begins here.
    mutating func object(depth: Int) -> [String: JSONObject.Value]? {
        var members: [String: JSONObject.Value] = [:]
        let isWhole = scanObject(depth: depth) { members[$0] = $1 }
        return isWhole ? members : nil
    }

    private mutating func scanObject(depth: Int, member: (String, JSONObject.Value) -> Void) -> Bool {
        guard depth < Self.maximumDepth, take(UInt8(ascii: "{")) else { return false }
        skipSpace()
        if take(UInt8(ascii: "}")) { return true }
        while true {
            skipSpace()
            guard let name = string() else { return false }
            skipSpace()
            guard take(UInt8(ascii: ":")), let value = value(depth: depth + 1) else { return false }
            member(name, value)
            skipSpace()
            if take(UInt8(ascii: "}")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    private mutating func scanArray(depth: Int) -> Bool {
        guard depth < Self.maximumDepth, take(UInt8(ascii: "[")) else { return false }
        skipSpace()
        if take(UInt8(ascii: "]")) { return true }
        while true {
            guard value(depth: depth + 1) != nil else { return false }
            skipSpace()
            if take(UInt8(ascii: "]")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    private mutating func value(depth: Int) -> JSONObject.Value? {
        skipSpace()
        let start = index
        switch peek {
        case UInt8(ascii: "{"):
            return scanObject(depth: depth) { _, _ in } ? .object(start..<index) : nil
        case UInt8(ascii: "["): return scanArray(depth: depth) ? .array : nil
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return word("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return word("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return word("null") ? .null : nil
        default:
            return number() ? .number(String(decoding: text[start..<index], as: UTF8.self)) : nil
        }
    }

    mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        guard take(UInt8(ascii: "0")) || digits() else { return false }
        if take(UInt8(ascii: ".")) {
            guard digits() else { return false }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            guard digits() else { return false }
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        return index > start
    }

    mutating func word(_ word: StaticString) -> Bool {
        guard word.withUTF8Buffer({ text[index...].starts(with: $0) }) else { return false }
        index += word.utf8CodeUnitCount
        return true
    }

    mutating func string() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var units: [UInt8] = []
        while let byte = peek {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                units += String(scalar).utf8
            case ..<0x20: return nil
            default: units.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = peek else { return nil }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let first = hexQuad() else { return nil }
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard UTF16.isLeadSurrogate(UInt16(first)), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")),
                let second = hexQuad(), UTF16.isTrailSurrogate(UInt16(second))
            else { return nil }
            return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        default: return nil
        }
    }

    private mutating func hexQuad() -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }

    func text(from start: Int) -> String { String(decoding: text[start..<index], as: UTF8.self) }

    var peek: UInt8? { index < text.count ? text[index] : nil }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }
}
