internal import JSON

/// A JSON value as a tree, for the control API and files of faults. Requests of APNs clients are never parsed into a
/// tree.
indirect enum JSONValue: Sendable, Hashable {
    struct Member: Sendable, Hashable {
        var name: String
        var value: JSONValue
    }

    case null
    case bool(Bool)
    /// The number's text.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// In the order of the text.
    case object([Member])
    /// JSON text that is written unchanged.
    case raw([UInt8])

    /// The deepest nesting that is parsed. It bounds the recursion.
    static let maximumDepth = 512

    /// Reads a whole JSON text.
    ///
    /// - Returns: `nil` for text that is not strict JSON (RFC 8259), not UTF-8, nested too deeply, or has more than
    ///   `maximumValues` values.
    init?(parsing text: [UInt8], maximumValues: Int = .max) {
        do throws(JSONFault) {
            var scanner = try JSONScanner(text, maximumDepth: Self.maximumDepth, maximumValues: maximumValues)
            try self.init(&scanner)
            try scanner.finish()
        } catch {
            return nil
        }
    }

    /// Parses the value at the scanner's position.
    private init(_ scanner: inout JSONScanner) throws(JSONFault) {
        switch try scanner.start() {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .number: self = .number(try scanner.number())
        case .string: self = .string(try scanner.string())
        case .array:
            var values: [JSONValue] = []
            var more = try scanner.enter(.array)
            while more {
                values.append(try JSONValue(&scanner))
                more = try scanner.advance(in: .array)
            }
            self = .array(values)
        case .object:
            var members: [Member] = []
            var more = try scanner.enter(.object)
            while more {
                members.append(Member(name: try scanner.name(), value: try JSONValue(&scanner)))
                more = try scanner.advance(in: .object)
            }
            self = .object(members)
        }
    }

    /// The JSON text without white space.
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
        case .string(let value): text.append(quoted: value)
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
                text.append(quoted: member.name)
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

    /// Seconds with milliseconds; null for a value that JSON cannot write.
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
