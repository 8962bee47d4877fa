/// Parses a JSON text (RFC 8259) strictly into a tree. Each value has its source range. Names must be unique within an
/// object. Nesting and the number of values are limited.
///
/// Foundation's decoders do not give the bytes of values, so `1.50e3`, `12345678901234567890`, `\u26bd` and the order
/// of keys would be lost.
package struct JSONParser {
    /// The deepest nesting. No content of an activity needs more, and the recursion must be bounded.
    package static let maximumDepth = 128

    /// The most values of one text. A value takes fifty to a hundred bytes in the tree, and 4 MiB of `[0,0,…]` would be
    /// two million values. The limit is enough for 500 broadcasts with 500 values each.
    package static let maximumValues = 250_000

    let text: [UInt8]
    /// The index of the next byte.
    var index = 0
    /// The number of arrays and objects around the present position.
    private var depth = 0
    private var valueCount = 0
    private let maximumValues: Int
    private let refusesHugeNumbers: Bool
    /// The names and indices that lead to the value being parsed. They become the JSON Pointer of a fault.
    private var path: [String] = []

    /// - Parameter refusesHugeNumbers: whether a number beyond the range of `Double` is an error.
    package init(
        _ text: [UInt8], maximumValues: Int = Self.maximumValues, refusesHugeNumbers: Bool = false
    ) {
        self.text = text
        self.maximumValues = maximumValues
        self.refusesHugeNumbers = refusesHugeNumbers
    }

    package mutating func parse() throws(JSONFault) -> JSONValue {
        do throws(JSONFault) {
            try checkEncoding()
            skipSpace()
            let value = try value()
            skipSpace()
            guard index == text.count else { throw fault("Text follows the JSON value") }
            return value
        } catch {
            var fault = error
            fault.pointer = PointerText.pointer(path)
            throw fault
        }
    }

    private mutating func value() throws(JSONFault) -> JSONValue {
        guard valueCount < maximumValues else {
            throw JSONFault("The text has more than \(maximumValues) values", at: index, kind: .tooManyValues)
        }
        valueCount += 1
        guard let first = peek else { throw fault("The text ends where a value was expected") }
        let start = index
        let kind: JSONValue.Kind
        switch first {
        case UInt8(ascii: "{"): kind = .object(try members())
        case UInt8(ascii: "["): kind = .array(try elements())
        case UInt8(ascii: "\""): kind = .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): kind = .number(try number())
        case UInt8(ascii: "t") where take("true"): kind = .bool(true)
        case UInt8(ascii: "f") where take("false"): kind = .bool(false)
        case UInt8(ascii: "n") where take("null"): kind = .null
        case 0xEF where index == 0 && text.starts(with: [0xEF, 0xBB, 0xBF]):
            throw fault("The text begins with a byte order mark (BOM), which JSON may not have: remove it")
        default: throw fault("A value was expected")
        }
        return JSONValue(kind: kind, source: text[start..<index])
    }

    private mutating func number() throws(JSONFault) -> String {
        let start = index
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try skipDigits() }
        if take(UInt8(ascii: ".")) { try skipDigits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            try skipDigits()
        }
        let number = String(decoding: text[start..<index], as: UTF8.self)
        // A short number without an exponent is never too large.
        if refusesHugeNumbers, number.utf8.count > 300 || number.contains(where: { $0 == "e" || $0 == "E" }),
            Double(number).map(\.isFinite) != true
        {
            throw JSONFault("The number \(number.prefix(24)) is too large; the largest is about 1.8e308", at: start)
        }
        return number
    }

    private mutating func elements() throws(JSONFault) -> [JSONValue] {
        var elements: [JSONValue] = []
        while try advance(isFirst: elements.isEmpty, to: "]", in: "array") {
            path.append(String(elements.count))
            elements.append(try value())
            path.removeLast()
        }
        return elements
    }

    private mutating func members() throws(JSONFault) -> [(name: String, value: JSONValue)] {
        var members: [(name: String, value: JSONValue)] = []
        var names: Set<String> = []
        while try advance(isFirst: members.isEmpty, to: "}", in: "object") {
            let start = index
            guard peek == UInt8(ascii: "\"") else { throw fault("A member name in double quotes was expected") }
            let name = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw fault("A colon was expected after a member name") }
            skipSpace()
            guard names.insert(name).inserted else {
                throw JSONFault("The member name \(name.quotedJSON) occurs twice in one object", at: start)
            }
            path.append(name)
            members.append((name, try value()))
            path.removeLast()
        }
        return members
    }

    /// Goes to the next element or member.
    ///
    /// - Parameter isFirst: whether the array or object begins here.
    /// - Returns: whether there is one. If not, the array or object is complete.
    private mutating func advance(
        isFirst: Bool, to end: Unicode.Scalar, in container: String
    ) throws(JSONFault) -> Bool {
        if isFirst {
            guard depth < Self.maximumDepth else {
                throw fault("The text is nested deeper than \(Self.maximumDepth) levels")
            }
            index += 1
            depth += 1
        }
        skipSpace()
        if take(UInt8(ascii: end)) {
            depth -= 1
            return false
        }
        guard !isFirst else { return true }
        guard take(UInt8(ascii: ",")) else { throw fault("A comma or \(end) was expected in an \(container)") }
        skipSpace()
        return true
    }

    private mutating func skipDigits() throws(JSONFault) {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw fault("A digit was expected in a number") }
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    var peek: UInt8? { index < text.count ? text[index] : nil }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    private mutating func take(_ word: StaticString) -> Bool {
        guard word.withUTF8Buffer({ text[index...].starts(with: $0) }) else { return false }
        index += word.utf8CodeUnitCount
        return true
    }

    func fault(_ detail: String) -> JSONFault { JSONFault(detail, at: index) }

    private func checkEncoding() throws(JSONFault) {
        if #available(iOS 18, *), String(validating: text, as: UTF8.self) != nil { return }
        var valid = 0
        var decoder = UTF8()
        var iterator = text.makeIterator()
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { valid += UTF8.width(scalar) }
        guard valid < text.count else { return }
        let isUTF16 = text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
        throw JSONFault(
            "The text is \(isUTF16 ? "UTF-16 with a byte order mark (BOM) and " : "")not valid UTF-8", at: valid)
    }
}
