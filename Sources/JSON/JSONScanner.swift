/// Reads strict JSON (RFC 8259) step by step and builds nothing. The caller decides what to do with each value, and
/// whether names may occur twice in an object.
///
/// Call `start` at the beginning of a value; it returns the kind. `null`, `true` and `false` are then complete. Read a
/// string with `string`, a number with `number`, an array or object with `enter` and `advance`; `skip` skips any value.
/// After `enter` or `advance`, call `name` in an object, and `start` in an array. After `name`, call `start` for the
/// member's value.
package struct JSONScanner: Sendable {
    /// The kind of a value, which its first byte tells.
    package enum Start: Sendable, Equatable {
        case null
        case bool(Bool)
        case number
        case string
        case array
        case object
    }

    /// A value that contains others.
    package enum Container: Sendable {
        case array
        case object
    }

    let text: [UInt8]
    /// The index of the next byte.
    package internal(set) var index = 0
    /// The number of containers around the present position.
    private var depth = 0
    private var values = 0
    private let maximumDepth: Int
    private let maximumValues: Int

    /// - Parameters:
    /// - maximumDepth: the deepest nesting. Callers recurse, so it must be bounded.
    /// - maximumValues: the most values, including nested ones and members.
    /// - Throws: if the text is not UTF-8.
    package init(_ text: [UInt8], maximumDepth: Int, maximumValues: Int = .max) throws(JSONFault) {
        self.text = text
        self.maximumDepth = maximumDepth
        self.maximumValues = maximumValues
        if !Self.isValid(text) {
            let isUTF16 = text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
            throw JSONFault(
                "The text is \(isUTF16 ? "UTF-16 with a byte order mark (BOM) and " : "")not valid UTF-8",
                at: Self.firstInvalid(text))
        }
        skipSpace()
    }

    /// Begins the next value.
    package mutating func start() throws(JSONFault) -> Start {
        guard values < maximumValues else {
            throw JSONFault("The text has more than \(maximumValues) values", at: index, kind: .tooManyValues)
        }
        values += 1
        guard let first = peek else { throw fault("The text ends where a value was expected") }
        switch first {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case 0xEF where index == 0 && text.starts(with: [0xEF, 0xBB, 0xBF]):
            throw fault("The text begins with a byte order mark (BOM), which JSON may not have: remove it")
        default: throw fault("A value was expected")
        }
    }

    /// Enters the array or object that begins here.
    ///
    /// - Returns: whether it has elements or members. If not, the array or object is complete.
    package mutating func enter(_ container: Container) throws(JSONFault) -> Bool {
        guard depth < maximumDepth else { throw fault("The text is nested deeper than \(maximumDepth) levels") }
        index += 1
        depth += 1
        skipSpace()
        return !leaves(container)
    }

    /// Goes to the next element or member.
    ///
    /// - Returns: whether there is one. If not, the array or object is complete.
    package mutating func advance(in container: Container) throws(JSONFault) -> Bool {
        skipSpace()
        if leaves(container) { return false }
        guard take(UInt8(ascii: ",")) else {
            throw fault("A comma or \(container == .array ? "]" : "}") was expected in an \(container)")
        }
        skipSpace()
        return true
    }

    /// Reads a member's name and the colon after it.
    package mutating func name() throws(JSONFault) -> String {
        guard peek == UInt8(ascii: "\"") else { throw fault("A member name in double quotes was expected") }
        let name = try string()
        try takeColon()
        return name
    }

    /// Reads the number that begins here, as written.
    package mutating func number() throws(JSONFault) -> String {
        let start = index
        try skipNumber()
        return String(decoding: text[start..<index], as: UTF8.self)
    }

    /// Skips the rest of a value that has begun.
    package mutating func skip(_ start: Start) throws(JSONFault) {
        switch start {
        case .null, .bool: return
        case .number: try skipNumber()
        case .string: _ = try skipString()
        case .array:
            var more = try enter(.array)
            while more {
                try skip(try self.start())
                more = try advance(in: .array)
            }
        case .object:
            var more = try enter(.object)
            while more {
                guard peek == UInt8(ascii: "\"") else { throw fault("A member name in double quotes was expected") }
                _ = try skipString()
                try takeColon()
                try skip(try self.start())
                more = try advance(in: .object)
            }
        }
    }

    /// - Throws: if anything but white space follows the value.
    package mutating func finish() throws(JSONFault) {
        skipSpace()
        guard index == text.count else { throw fault("Text follows the JSON value") }
    }

    private mutating func leaves(_ container: Container) -> Bool {
        guard take(container == .array ? UInt8(ascii: "]") : UInt8(ascii: "}")) else { return false }
        depth -= 1
        return true
    }

    private mutating func takeColon() throws(JSONFault) {
        skipSpace()
        guard take(UInt8(ascii: ":")) else { throw fault("A colon was expected after a member name") }
        skipSpace()
    }

    private mutating func word(_ word: StaticString, _ start: Start) throws(JSONFault) -> Start {
        let matches = word.withUTF8Buffer { text[index...].starts(with: $0) }
        guard matches else { throw fault("A value was expected") }
        index += word.utf8CodeUnitCount
        return start
    }

    private mutating func skipNumber() throws(JSONFault) {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try skipDigits() }
        if take(UInt8(ascii: ".")) { try skipDigits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            try skipDigits()
        }
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

    func fault(_ detail: String) -> JSONFault { JSONFault(detail, at: index) }

    private static func isValid(_ text: [UInt8]) -> Bool {
        guard #available(iOS 18, *) else { return firstInvalid(text) == text.count }
        return String(validating: text, as: UTF8.self) != nil
    }

    private static func firstInvalid(_ text: [UInt8]) -> Int {
        var valid = 0
        var decoder = UTF8()
        var iterator = text.makeIterator()
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { valid += UTF8.width(scalar) }
        return valid
    }
}
