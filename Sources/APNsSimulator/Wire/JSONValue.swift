/// A JSON value as a tree: for the control API, files of faults and the state file. What clients of APNs send is never
/// made a tree of.
indirect enum JSONValue: Sendable, Hashable {
    struct Member: Sendable, Hashable {
        var name: String
        var value: JSONValue
    }

    case null
    case bool(Bool)
    /// As written.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// In the order written.
    case object([Member])
    /// Text that is JSON already, spliced in as it is.
    case raw([UInt8])

    /// Reads a whole JSON text.
    ///
    /// - Returns: `nil` for what is not JSON (RFC 8259, strictly), not UTF-8, nested too deep, or of more than
    ///   `maximumValues`.
    init?(parsing text: [UInt8], maximumValues: Int = .max) {
        guard String(validating: text, as: UTF8.self) != nil else { return nil }
        var scanner = JSONScanner(text, from: 0, maximumValues: maximumValues)
        guard let value = scanner.tree() else { return nil }
        scanner.skipSpace()
        guard scanner.index == text.count else { return nil }
        self = value
    }

    /// As JSON text, without space.
    var text: [UInt8] {
        var text: [UInt8] = []
        write(to: &text)
        return text
    }

    private func write(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .bool(let value): text += (value ? "true" : "false").utf8
        case .number(let value): text += value.utf8
        case .string(let value): text += JSONText.quoted(value).utf8
        case .array(let values):
            text.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                value.write(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                text += JSONText.quoted(member.name).utf8
                text.append(UInt8(ascii: ":"))
                member.value.write(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        case .raw(let bytes): text += bytes
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int) { self = .number(String(value)) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(arrayLiteral values: JSONValue...) { self = .array(values) }
    init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(members.map { Member(name: $0, value: $1) })
    }

    static func integer(_ value: Int) -> Self { .number(String(value)) }

    /// Seconds with milliseconds; what is no number in JSON is null.
    static func seconds(_ value: Double) -> Self {
        guard value.isFinite, abs(value) < 1e15 else { return .null }
        return .number(String((value * 1_000).rounded() / 1_000))
    }

    static func optional(_ text: String?) -> Self { text.map { .string($0) } ?? .null }

    static func strings(_ values: some Sequence<String>) -> Self { .array(values.map { .string($0) }) }

    /// An object without the members that are `nil`.
    static func members(_ members: KeyValuePairs<String, JSONValue?>) -> Self {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }
}

extension JSONScanner {
    /// The value that begins here, as a tree.
    mutating func tree(depth: Int = 0) -> JSONValue? {
        guard depth < Self.maximumDepth, valuesLeft > 0 else { return nil }
        valuesLeft -= 1
        skipSpace()
        let start = index
        switch peek {
        case UInt8(ascii: "{"): return objectTree(depth: depth)
        case UInt8(ascii: "["): return arrayTree(depth: depth)
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return word("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return word("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return word("null") ? .null : nil
        default: return number() ? .number(text(from: start)) : nil
        }
    }

    private mutating func objectTree(depth: Int) -> JSONValue? {
        guard take(UInt8(ascii: "{")) else { return nil }
        var members: [JSONValue.Member] = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipSpace()
            guard let name = string() else { return nil }
            skipSpace()
            guard take(UInt8(ascii: ":")), let value = tree(depth: depth + 1) else { return nil }
            members.append(.init(name: name, value: value))
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func arrayTree(depth: Int) -> JSONValue? {
        guard take(UInt8(ascii: "[")) else { return nil }
        var values: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array([]) }
        while true {
            guard let value = tree(depth: depth + 1) else { return nil }
            values.append(value)
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(values) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
    }
}
