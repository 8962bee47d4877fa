package import JSON

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A value of the contract that is read out of JSON.
package protocol JSONReadable {
    /// - Throws: `DecodingError`.
    init(json: JSONValue) throws
}

/// A value of the contract that is read and written.
package protocol ContractValue: JSONReadable, JSONWritable {}

/// An object of the contract. Unknown members, which a newer server may send, are ignored.
package protocol ContractObject: ContractValue, JSONObjectWritable {
    /// - Throws: `DecodingError`.
    init(members: JSONMembers) throws
}

extension ContractObject {
    package init(json: JSONValue) throws { try self.init(members: try JSONMembers(json)) }
}

/// An enumeration of the contract with text values.
package protocol ContractWord: OpenEnumeration, ContractValue {}

extension ContractWord {
    package init(json: JSONValue) throws { self.init(rawValue: try String(json: json)) }

    package func write(to json: inout JSONWriter) { json.string(rawValue) }
}

/// The members of an object that is read.
package struct JSONMembers {
    private let members: [(name: String, value: JSONValue)]
    /// The object's text.
    fileprivate let source: ArraySlice<UInt8>

    init(_ json: JSONValue) throws {
        guard case .object(let members) = json.kind else { throw json.mismatch("an object") }
        self.members = members
        source = json.source
    }

    func required<Value: JSONReadable>(_ name: String) throws -> Value {
        guard let value: Value = try optional(name) else {
            throw DecodingError.keyNotFound(
                MemberName(name), .init(codingPath: [], debugDescription: "\(name) is not there"))
        }
        return value
    }

    /// `nil` where the member is null or is not there.
    func optional<Value: JSONReadable>(_ name: String) throws -> Value? {
        guard let value = members.first(where: { $0.name == name })?.value else { return nil }
        if case .null = value.kind { return nil }
        return try DecodingError.within(MemberName(name)) { try Value(json: value) }
    }
}

extension String: JSONReadable {
    package init(json: JSONValue) throws {
        guard let text = json.string else { throw json.mismatch("a string") }
        self = text
    }
}

extension Int: JSONReadable {
    package init(json: JSONValue) throws {
        guard let number = json.integer else { throw json.mismatch("a whole number") }
        self = number
    }
}

extension Double: JSONReadable {
    package init(json: JSONValue) throws {
        guard case .number(let text) = json.kind, let number = Double(text) else { throw json.mismatch("a number") }
        self = number
    }
}

extension Bool: JSONReadable {
    package init(json: JSONValue) throws {
        switch json.kind {
        case .bool(let flag): self = flag
        // Apple's payloads also write a flag as the number 1.
        case .number("1"): self = true
        default: throw json.mismatch("true or false")
        }
    }
}

extension Date: JSONReadable {
    package init(json: JSONValue) throws {
        guard let date = json.string.flatMap(RFC3339.date) else { throw json.mismatch("an RFC 3339 time") }
        self = date
    }
}

extension Array: JSONReadable where Element: JSONReadable {
    package init(json: JSONValue) throws {
        guard let elements = json.elements else { throw json.mismatch("an array") }
        self = try elements.enumerated().map { index, element in
            try DecodingError.within(MemberName(index)) { try Element(json: element) }
        }
    }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    package init(json: JSONValue) throws {
        guard case .object(let members) = json.kind else { throw json.mismatch("an object") }
        self.init(minimumCapacity: members.count)
        for member in members {
            self[member.name] = try DecodingError.within(MemberName(member.name)) { try Value(json: member.value) }
        }
    }
}

extension RawJSON: ContractValue {
    package init(json: JSONValue) throws { self.init(unchecked: json.source) }

    package func write(to json: inout JSONWriter) { json.raw(bytes) }
}

extension String: JSONWritable {
    package func write(to json: inout JSONWriter) { json.string(self) }
}

extension Date: JSONWritable {
    package func write(to json: inout JSONWriter) { json.string(RFC3339.text(self)) }
}

extension Double: JSONWritable {
    package func write(to json: inout JSONWriter) { json.raw((Int(exactly: self).map(String.init) ?? "\(self)").utf8) }
}

/// The text that an object was read from. It does not count for equality: objects with the same members are equal.
struct KeptText: Sendable, Hashable {
    private var bytes: [UInt8]?

    init() {}
    init(_ members: JSONMembers) { bytes = Array(members.source) }
    init(_ text: [UInt8]) { bytes = text }

    /// Writes the text. If there is none, writes an object with the members that `members` writes.
    func write(to json: inout JSONWriter, _ members: (inout JSONWriter) -> Void) {
        if let bytes { json.raw(bytes) } else { json.object(members) }
    }

    static func == (_: Self, _: Self) -> Bool { true }
    func hash(into _: inout Hasher) {}
}

/// A number that is written as it was read: `7.50` stays so.
package struct KeptNumber: Sendable, Hashable, JSONReadable, JSONWritable {
    package let bytes: [UInt8]
    package let value: Double

    package init(_ value: Double) {
        self.value = value
        bytes = JSONWriter.text(value)
    }

    /// - Parameter text: the text of a JSON number.
    package init?(text: [UInt8]) {
        guard let value = Double(String(decoding: text, as: UTF8.self)) else { return nil }
        self.value = value
        bytes = text
    }

    package init(json: JSONValue) throws {
        value = try Double(json: json)
        bytes = json.bytes
    }

    package func write(to json: inout JSONWriter) { json.raw(bytes) }

    package static func == (one: Self, other: Self) -> Bool { one.value == other.value }
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension JSONWriter {
    package mutating func member(_ name: StaticString, _ value: Double?) {
        self.name(name)
        if let value { value.write(to: &self) } else { null() }
    }

    package mutating func member(_ name: StaticString, _ value: Bool?) {
        self.name(name)
        if let value { boolean(value) } else { null() }
    }

    package mutating func member(_ name: StaticString, _ values: [some JSONWritable]?) {
        self.name(name)
        if let values { array(values) { $1.write(to: &$0) } } else { null() }
    }

    /// Writes the values as an object, sorted by name.
    package mutating func member(_ name: StaticString, _ values: [String: some JSONWritable]?) {
        self.name(name)
        guard let values else { return null() }
        object { object in
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                object.name(dynamic: name)
                value.write(to: &object)
            }
        }
    }

    /// Writes the values as an object, sorted by name.
    package mutating func member(_ name: StaticString, _ values: [String: Int]?) {
        self.name(name)
        guard let values else { return null() }
        object { object in
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                object.name(dynamic: name)
                object.integer(value)
            }
        }
    }
}

extension JSONValue {
    /// Parses a JSON text. Faults are reported as Swift's decoders report them.
    ///
    /// - Throws: `DecodingError`.
    package init(decoding bytes: some Sequence<UInt8>) throws {
        do throws(JSONFault) {
            var parser = JSONParser(Array(bytes), maximumValues: .max)
            self = try parser.parse()
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "\(error.detail), at byte \(error.offset)"))
        }
    }

    fileprivate func mismatch(_ expected: String) -> DecodingError {
        .typeMismatch(
            JSONValue.self, .init(codingPath: [], debugDescription: "\(expected) was expected, not \(kindName)"))
    }
}

/// A member's name or an element's number, in the path of a `DecodingError`.
private struct MemberName: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(_ index: Int) { (stringValue, intValue) = (String(index), index) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

extension DecodingError {
    /// Runs `read`. If it throws a `DecodingError`, this key is put at the beginning of the error's path.
    fileprivate static func within<Value>(_ key: MemberName, _ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let error as DecodingError {
            func path(_ context: Context) -> Context {
                Context(
                    codingPath: [key] + context.codingPath, debugDescription: context.debugDescription,
                    underlyingError: context.underlyingError)
            }
            switch error {
            case .typeMismatch(let type, let context): throw DecodingError.typeMismatch(type, path(context))
            case .valueNotFound(let type, let context): throw DecodingError.valueNotFound(type, path(context))
            case .keyNotFound(let name, let context): throw DecodingError.keyNotFound(name, path(context))
            case .dataCorrupted(let context): throw DecodingError.dataCorrupted(path(context))
            @unknown default: throw error
            }
        }
    }
}
