/// Parses a JSON text into a tree. Each value has its source range. The parser checks the syntax, and also that names
/// are unique within an object. It limits nesting and the number of values.
///
/// Foundation's decoders do not give the bytes of values, so `1.50e3`, `12345678901234567890`, `\u26bd` and the order
/// of keys would be lost.
package struct JSONParser {
    /// The deepest nesting. No content of an activity needs more, and the recursion must be bounded.
    package static let maximumDepth = 128

    /// The most values of one text. A value takes fifty to a hundred bytes in the tree, and 4 MiB of `[0,0,…]` would be
    /// two million values. The limit is enough for 500 broadcasts with 500 values each.
    package static let maximumValues = 250_000

    private let bytes: [UInt8]
    private let maximumValues: Int
    private let refusesHugeNumbers: Bool
    /// The names and indices that lead to the value being parsed. They become the JSON Pointer of a fault.
    private var path: [String] = []

    /// - Parameter refusesHugeNumbers: whether a number beyond the range of `Double` is an error.
    package init(
        _ bytes: [UInt8], maximumValues: Int = Self.maximumValues, refusesHugeNumbers: Bool = false
    ) {
        self.bytes = bytes
        self.maximumValues = maximumValues
        self.refusesHugeNumbers = refusesHugeNumbers
    }

    package mutating func parse() throws(JSONFault) -> JSONValue {
        do throws(JSONFault) {
            var scanner = try JSONScanner(bytes, maximumDepth: Self.maximumDepth, maximumValues: maximumValues)
            let value = try value(&scanner)
            try scanner.finish()
            return value
        } catch {
            var fault = error
            fault.pointer = JSONText.pointer(path)
            throw fault
        }
    }

    private mutating func value(_ scanner: inout JSONScanner) throws(JSONFault) -> JSONValue {
        let start = scanner.index
        let kind: JSONValue.Kind =
            switch try scanner.start() {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .number: .number(try number(&scanner))
            case .string: .string(try scanner.string())
            case .array: .array(try elements(&scanner))
            case .object: .object(try members(&scanner))
            }
        return JSONValue(kind: kind, source: bytes[start..<scanner.index])
    }

    private func number(_ scanner: inout JSONScanner) throws(JSONFault) -> String {
        let start = scanner.index
        let text = try scanner.number()
        // A short number without an exponent is never too large.
        if refusesHugeNumbers, text.utf8.count > 300 || text.contains(where: { $0 == "e" || $0 == "E" }),
            Double(text).map(\.isFinite) != true
        {
            throw JSONFault("The number \(text.prefix(24)) is too large; the largest is about 1.8e308", at: start)
        }
        return text
    }

    private mutating func elements(_ scanner: inout JSONScanner) throws(JSONFault) -> [JSONValue] {
        var elements: [JSONValue] = []
        var more = try scanner.enter(.array)
        while more {
            path.append(String(elements.count))
            elements.append(try value(&scanner))
            path.removeLast()
            more = try scanner.advance(in: .array)
        }
        return elements
    }

    private mutating func members(
        _ scanner: inout JSONScanner
    ) throws(JSONFault) -> [(name: String, value: JSONValue)] {
        var members: [(name: String, value: JSONValue)] = []
        var names: Set<String> = []
        var more = try scanner.enter(.object)
        while more {
            let start = scanner.index
            let name = try scanner.name()
            guard names.insert(name).inserted else {
                let quoted = JSONText.quoted(name)
                throw JSONFault("The member name \(quoted) occurs twice in one object", at: start)
            }
            path.append(name)
            members.append((name, try value(&scanner)))
            path.removeLast()
            more = try scanner.advance(in: .object)
        }
        return members
    }
}
