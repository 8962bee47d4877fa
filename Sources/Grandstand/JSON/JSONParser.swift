/// A strict RFC 8259 parser that keeps each value's source range.
///
/// Foundation's decoders give values but not their bytes: `1.50e3`, `12345678901234567890`, `\u26bd` and the order of
/// keys would not survive them.
package struct JSONParser {
    /// Deeper nesting is refused: no activity's content needs it, and recursion must stay bounded.
    package static let maximumDepth = 128

    /// More values than this in one text are refused: a tree takes fifty to a hundred bytes for each, so 4 MiB of `[0,0,…]`
    /// would be two million of them. 500 broadcasts may have 500 each.
    package static let maximumValues = 250_000

    private let bytes: [UInt8]
    private let maximumValues: Int
    private var values = 0
    private var index = 0
    /// Names and indices on the way to the value being read: the JSON Pointer of a fault.
    private var path: [String] = []

    package init(_ bytes: [UInt8], maximumValues: Int = Self.maximumValues) {
        self.bytes = bytes
        self.maximumValues = maximumValues
    }

    package mutating func parse() throws(Problem) -> JSONValue {
        if let invalid = firstInvalidUTF8() {
            index = invalid
            throw fault("The body is not valid UTF-8")
        }
        skipWhiteSpace()
        let value = try parseValue()
        skipWhiteSpace()
        guard index == bytes.count else { throw fault("Something follows the JSON value") }
        return value
    }

    private mutating func parseValue() throws(Problem) -> JSONValue {
        guard path.count <= Self.maximumDepth else {
            throw fault("The body is nested deeper than \(Self.maximumDepth) levels")
        }
        values += 1
        guard values <= maximumValues else { throw tooMany() }
        guard let first = peek() else { throw fault("The body ends where a value should stand") }
        let start = index
        let kind: JSONValue.Kind
        switch first {
        case UInt8(ascii: "{"): kind = try parseObject()
        case UInt8(ascii: "["): kind = try parseArray()
        case UInt8(ascii: "\""): kind = .string(try parseString())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): kind = .number(try parseNumber())
        case UInt8(ascii: "t"): kind = try parseWord("true", .bool(true))
        case UInt8(ascii: "f"): kind = try parseWord("false", .bool(false))
        case UInt8(ascii: "n"): kind = try parseWord("null", .null)
        default: throw fault("A value was expected")
        }
        return JSONValue(kind: kind, source: bytes[start..<index])
    }

    private mutating func parseObject() throws(Problem) -> JSONValue.Kind {
        index += 1
        skipWhiteSpace()
        var members: [(name: String, value: JSONValue)] = []
        var names: Set<String> = []
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            guard peek() == UInt8(ascii: "\"") else { throw fault("A member name in double quotes was expected") }
            let name = try parseString()
            guard names.insert(name).inserted else {
                throw fault("The member name \(JSONText.quoted(name)) stands twice in one object")
            }
            skipWhiteSpace()
            guard take(UInt8(ascii: ":")) else { throw fault("A colon was expected after a member name") }
            skipWhiteSpace()
            path.append(name)
            members.append((name, try parseValue()))
            path.removeLast()
            skipWhiteSpace()
            if take(UInt8(ascii: ",")) {
                skipWhiteSpace()
            } else if take(UInt8(ascii: "}")) {
                return .object(members)
            } else {
                throw fault("A comma or } was expected in an object")
            }
        }
    }

    private mutating func parseArray() throws(Problem) -> JSONValue.Kind {
        index += 1
        skipWhiteSpace()
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            path.append(String(elements.count))
            elements.append(try parseValue())
            path.removeLast()
            skipWhiteSpace()
            if take(UInt8(ascii: ",")) {
                skipWhiteSpace()
            } else if take(UInt8(ascii: "]")) {
                return .array(elements)
            } else {
                throw fault("A comma or ] was expected in an array")
            }
        }
    }

    private mutating func parseNumber() throws(Problem) -> String {
        let start = index
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try takeDigits() }
        if take(UInt8(ascii: ".")) { try takeDigits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try takeDigits()
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func takeDigits() throws(Problem) {
        let start = index
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw fault("A digit was expected in a number") }
    }

    private mutating func parseWord(_ word: StaticString, _ kind: JSONValue.Kind) throws(Problem) -> JSONValue.Kind {
        let matches = word.withUTF8Buffer { bytes[index...].starts(with: $0) }
        guard matches else { throw fault("A value was expected") }
        index += word.utf8CodeUnitCount
        return kind
    }

    private mutating func parseString() throws(Problem) -> String {
        index += 1
        var content: [UInt8] = []
        var runStart = index
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                content += bytes[runStart..<index]
                index += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                content += bytes[runStart..<index]
                index += 1
                try parseEscape(into: &content)
                runStart = index
            case 0..<0x20:
                throw fault("A control character stands unescaped in a string")
            default:
                index += 1
            }
        }
        throw fault("The body ends inside a string")
    }

    private mutating func parseEscape(into content: inout [UInt8]) throws(Problem) {
        guard let byte = peek() else { throw fault("The body ends inside a string") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content += Array(String(try parseUnicodeEscape()).utf8)
        default:
            index -= 1
            throw fault("An unknown escape stands in a string")
        }
    }

    private mutating func parseUnicodeEscape() throws(Problem) -> Unicode.Scalar {
        let first = try parseHexQuad()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(UInt16(first)), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw fault("A lone surrogate stands in a string")
        }
        let second = try parseHexQuad()
        guard UTF16.isTrailSurrogate(UInt16(second)),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw fault("A lone surrogate stands in a string") }
        return scalar
    }

    private mutating func parseHexQuad() throws(Problem) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("Four hexadecimal digits were expected after \\u")
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }

    private func peek() -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipWhiteSpace() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    /// The offset of the first byte that is not valid UTF-8.
    private func firstInvalidUTF8() -> Int? {
        if String(validating: bytes, as: UTF8.self) != nil { return nil }
        var low = 0
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): low += UTF8.width(scalar)
            case .emptyInput: return bytes.count
            case .error: return low
            }
        }
    }

    private func tooMany() -> Problem {
        Problem(
            .bodyTooLarge,
            "The body has more than \(maximumValues) JSON values, nested ones counted. Send it in several parts.",
            members: [("limit", .integer(maximumValues))])
    }

    private func fault(_ what: String) -> Problem {
        let pointer = JSONText.pointer(path.suffix(Self.maximumDepth))
        let before = bytes[..<min(index, bytes.count)]
        let line = before.count { $0 == 0x0A } + 1
        let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        let place = "line \(line), column \(column)"
        return Problem(
            .malformedJSON, "\(what) (\(place)).", errors: [FieldError(pointer: pointer, detail: "\(what) (\(place)).")]
        )
    }
}
