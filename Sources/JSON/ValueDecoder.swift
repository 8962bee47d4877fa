#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decodes `Decodable` types from parsed JSON. A member that is null counts as left out. A time is RFC 3339.
///
/// `JSONValue.decode` uses it. The paths of errors are made while the error is thrown on, so that values without faults
/// need none.
package struct ValueDecoder: Decoder {
    package let value: JSONValue
    let isStrict: Bool
    package var codingPath: [any CodingKey] { [] }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    func read<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        // A decoder for each text and number would take most of the time.
        if type == String.self, let text = try decode(String.self) as? Value { return text }
        if type == Int.self, let number = try decode(Int.self) as? Value { return number }
        if type == Date.self {
            guard let date = try RFC3339.date(decode(String.self)) as? Value else {
                throw value.mismatch("an RFC 3339 time")
            }
            return date
        }
        return try Value(from: self)
    }

    /// - Parameter key: is put before the path of an error.
    func read<Value: Decodable>(_ type: Value.Type = Value.self, at key: any CodingKey) throws -> Value {
        do { return try read(type) } catch let error as DecodingError { throw error.within(key) }
    }

    package func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value.kind else { throw value.mismatch("an object") }
        if isStrict, let other = members.first(where: { Key(stringValue: $0.name) == nil }) {
            throw DecodingError.fault("\(other.name.quotedJSON) is unknown")
        }
        return KeyedDecodingContainer(Members(members, isStrict))
    }

    package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value.kind else { throw value.mismatch("an array") }
        return Elements(elements, isStrict)
    }

    package func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
    package func decodeNil() -> Bool { value.isNull }

    package func decode(_: String.Type) throws -> String {
        guard let text = value.string else { throw value.mismatch("a string") }
        return text
    }

    package func decode(_: Bool.Type) throws -> Bool {
        switch value.kind {
        case .bool(let flag): return flag
        // Apple's payloads also write a flag as the number 1.
        case .number("1"): return true
        default: throw value.mismatch("true or false")
        }
    }

    package func decode(_: Double.Type) throws -> Double {
        guard case .number(let text) = value.kind, let number = Double(text) else { throw value.mismatch("a number") }
        return number
    }

    package func decode(_: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    package func decode<Number: FixedWidthInteger & Decodable>(_: Number.Type) throws -> Number {
        guard case .number(let text) = value.kind,
            let number = Number(text) ?? value.integer.flatMap(Number.init(exactly:))
        else { throw value.mismatch("a whole number") }
        return number
    }

    package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try read(type) }
}

extension ValueDecoder {
    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        private let members: [(name: String, value: JSONValue)]
        /// The values by name, for an object with so many members that it would take long to search for each.
        private let byName: [String: JSONValue]?
        private let isStrict: Bool
        var codingPath: [any CodingKey] { [] }

        init(_ members: [(name: String, value: JSONValue)], _ isStrict: Bool) {
            self.members = members
            self.isStrict = isStrict
            byName =
                members.count > 20 ? Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first } : nil
        }

        /// `nil`: the member is not there.
        private func reader(_ key: Key) -> ValueDecoder? {
            let name = key.stringValue
            let value = byName.map { $0[name] } ?? members.first { $0.name == name }?.value
            return value.map { ValueDecoder(value: $0, isStrict: isStrict) }
        }

        private func required(_ key: Key) throws -> ValueDecoder {
            if let reader = reader(key) { return reader }
            throw DecodingError.keyNotFound(
                key, .init(codingPath: [], debugDescription: "\(key.stringValue) is not there"))
        }

        var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }
        func contains(_ key: Key) -> Bool { reader(key) != nil }
        func decodeNil(forKey key: Key) throws -> Bool { try required(key).decodeNil() }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try required(key).read(type, at: key)
        }

        // The protocol has an own requirement for each plain type, which would search the member three times.
        func decodeIfPresent<Value: Decodable>(_: Value.Type, forKey key: Key) throws -> Value? { try maybe(key) }
        func decodeIfPresent(_: String.Type, forKey key: Key) throws -> String? { try maybe(key) }
        func decodeIfPresent(_: Int.Type, forKey key: Key) throws -> Int? { try maybe(key) }
        func decodeIfPresent(_: Double.Type, forKey key: Key) throws -> Double? { try maybe(key) }
        func decodeIfPresent(_: Bool.Type, forKey key: Key) throws -> Bool? { try maybe(key) }

        private func maybe<Value: Decodable>(_ key: Key) throws -> Value? {
            guard let reader = reader(key), !reader.decodeNil() else { return nil }
            return try reader.read(at: key)
        }

        func nestedContainer<Inner: CodingKey>(
            keyedBy type: Inner.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Inner> { try required(key).container(keyedBy: type) }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try required(key).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder { throw DecodingError.fault("a class within a class is not read") }
        func superDecoder(forKey key: Key) throws -> any Decoder { try required(key) }
    }

    private struct Elements: UnkeyedDecodingContainer {
        private let elements: [JSONValue]
        private let isStrict: Bool
        private(set) var currentIndex = 0
        var codingPath: [any CodingKey] { [] }
        var count: Int? { elements.count }
        var isAtEnd: Bool { currentIndex == elements.count }

        init(_ elements: [JSONValue], _ isStrict: Bool) {
            self.elements = elements
            self.isStrict = isStrict
        }

        private func current() throws -> ValueDecoder {
            guard !isAtEnd else { throw DecodingError.fault("there are only \(elements.count) elements") }
            return ValueDecoder(value: elements[currentIndex], isStrict: isStrict)
        }

        mutating func decodeNil() throws -> Bool {
            guard try current().decodeNil() else { return false }
            currentIndex += 1
            return true
        }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let value = try current().read(type, at: IndexKey(index: currentIndex))
            currentIndex += 1
            return value
        }

        mutating func nestedContainer<Inner: CodingKey>(
            keyedBy type: Inner.Type
        ) throws -> KeyedDecodingContainer<Inner> { try superDecoder().container(keyedBy: type) }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try superDecoder().unkeyedContainer()
        }

        mutating func superDecoder() throws -> any Decoder {
            defer { currentIndex += 1 }
            return try current()
        }
    }

    /// The number of an element, in the path of an error.
    private struct IndexKey: CodingKey {
        let index: Int
        var intValue: Int? { index }
        var stringValue: String { String(index) }

        init(index: Int) { self.index = index }
        init?(stringValue: String) { return nil }
        init?(intValue: Int) { index = intValue }
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
            throw DecodingError.fault("\(error.detail), at byte \(error.offset)")
        }
    }

    /// Reads a value of a type that is `Decodable`.
    ///
    /// - Parameter refusesOthers: whether unknown members are errors. They are ignored otherwise.
    /// - Throws: `DecodingError` with the path to the fault.
    package func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, refusingOthers refusesOthers: Bool = false
    ) throws -> Value { try ValueDecoder(value: self, isStrict: refusesOthers).read(type) }

    fileprivate func mismatch(_ expected: String) -> DecodingError {
        .typeMismatch(
            JSONValue.self, .init(codingPath: [], debugDescription: "\(expected) was expected, not \(kindName)"))
    }
}

extension DecodingError {
    /// - Parameter detail: a text for people, without a full stop.
    package static func fault(_ detail: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: detail))
    }

    /// The same error with a key before its path.
    fileprivate func within(_ key: any CodingKey) -> DecodingError {
        func path(_ context: Context) -> Context {
            Context(
                codingPath: [key] + context.codingPath, debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, path(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, path(context))
        case .keyNotFound(let name, let context): return .keyNotFound(name, path(context))
        case .dataCorrupted(let context): return .dataCorrupted(path(context))
        @unknown default: return self
        }
    }
}

extension JSONValue: Decodable {
    /// Any value, as it is. Only this codec has it.
    package init(from decoder: any Decoder) throws {
        guard let reader = decoder as? ValueDecoder else {
            throw DecodingError.fault("JSON is read by JSONValue.decode")
        }
        self = reader.value
    }
}
