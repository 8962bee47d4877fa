/// A strict RFC 8259 scanner: it walks every value and makes only those that are asked for.
struct JSONScanner {
    /// Deeper nesting is not read: recursion must stay bounded, whoever sends it.
    static let maximumDepth = 512

    private let text: [UInt8]
    private(set) var index: Int
    /// Values a tree may have still.
    var valuesLeft: Int

    init(_ text: [UInt8], from index: Int, maximumValues: Int = .max) {
        self.text = text
        self.index = index
        valuesLeft = maximumValues
    }

    /// The whole text as one object.
    ///
    /// - Parameter inner: the member whose members are wanted, too.
    mutating func document(inner: String) -> [JSONObject.Member]? {
        skipSpace()
        guard let members = object(depth: 0, inner: inner) else { return nil }
        skipSpace()
        return index == text.count ? members : nil
    }

    /// The object that begins here: its members, and those of `inner`, if that is an object among them.
    private mutating func object(depth: Int, inner: String?) -> [JSONObject.Member]? {
        var members: [JSONObject.Member] = []
        members.reserveCapacity(4)
        let isWhole = walkObject(depth: depth) { scanner in
            guard let name = scanner.string(), scanner.takeColon() else { return false }
            scanner.skipSpace()
            guard name != inner || scanner.peek != UInt8(ascii: "{") else {
                let start = scanner.index
                guard let within = scanner.object(depth: depth + 1, inner: nil) else { return false }
                members.append(.init(name: name, value: .object(start..<scanner.index), members: within))
                return true
            }
            guard let value = scanner.value(depth: depth + 1) else { return false }
            members.append(.init(name: name, value: value))
            return true
        }
        return isWhole ? members : nil
    }

    private mutating func value(depth: Int) -> JSONObject.Value? {
        let start = index
        if peek == UInt8(ascii: "\"") { return string().map { .string($0) } }
        guard skipValue(depth: depth) else { return nil }
        switch text[start] {
        case UInt8(ascii: "{"): return .object(start..<index)
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "n"): return .null
        default: return .number(text(from: start))
        }
    }

    private mutating func skipValue(depth: Int) -> Bool {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"):
            return walkObject(depth: depth) {
                $0.skipString() != nil && $0.takeColon() && $0.skipValue(depth: depth + 1)
            }
        case UInt8(ascii: "["): return walk(to: UInt8(ascii: "]"), depth: depth) { $0.skipValue(depth: depth + 1) }
        case UInt8(ascii: "\""): return skipString() != nil
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    private mutating func walkObject(depth: Int, member: (inout Self) -> Bool) -> Bool {
        guard peek == UInt8(ascii: "{") else { return false }
        return walk(to: UInt8(ascii: "}"), depth: depth, element: member)
    }

    /// What stands between a bracket, which is here, and the one that closes it.
    private mutating func walk(to end: UInt8, depth: Int, element: (inout Self) -> Bool) -> Bool {
        guard depth < Self.maximumDepth else { return false }
        index += 1
        skipSpace()
        if take(end) { return true }
        while true {
            skipSpace()
            guard element(&self) else { return false }
            skipSpace()
            if take(end) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    private mutating func takeColon() -> Bool {
        skipSpace()
        return take(UInt8(ascii: ":"))
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
        let start = index + 1
        guard let hasEscapes = skipString() else { return nil }
        let end = index - 1
        if !hasEscapes { return String(decoding: text[start..<end], as: UTF8.self) }
        var inner = JSONScanner(text, from: start)
        return inner.unescaped(to: end)
    }

    /// - Returns: whether it has escapes; `nil` for what is no string.
    private mutating func skipString() -> Bool? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var hasEscapes = false
        while true {
            skipPlain()
            guard let byte = peek else { return nil }
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return hasEscapes
            case UInt8(ascii: "\\"):
                guard escape() != nil else { return nil }
                hasEscapes = true
            default: return nil
            }
        }
    }

    /// What a string holds up to its end, an escape or something forbidden: most of a body.
    private mutating func skipPlain() {
        index = text.withUnsafeBufferPointer { bytes in
            var index = index
            while index < bytes.count, bytes[index] >= 0x20, bytes[index] != UInt8(ascii: "\""),
                bytes[index] != UInt8(ascii: "\\")
            { index += 1 }
            return index
        }
    }

    /// The inside of a string that was walked before.
    private mutating func unescaped(to end: Int) -> String {
        var units: [UInt8] = []
        while index < end {
            let byte = text[index]
            index += 1
            if byte != UInt8(ascii: "\\") {
                units.append(byte)
            } else if let scalar = escape() {
                units += String(scalar).utf8
            }
        }
        return String(decoding: units, as: UTF8.self)
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
