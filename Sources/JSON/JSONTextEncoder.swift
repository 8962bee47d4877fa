/// An object whose optional members are written as null if they have no value. Those of other objects are left out.
package protocol WritesNulls {
    /// The members that are left out all the same.
    static var leftOut: [String] { get }
}

/// Writes the JSON of `Encodable` types. Members are in the order of their declaration, and those of dictionaries are
/// sorted by name, so that equal values give equal bytes. A time is RFC 3339 in UTC, with milliseconds.
///
/// The text is written while the value is encoded. So a type can open one container only, and no containers in it.
/// `JSONWriter.encode` uses it.
package final class JSONTextEncoder: Encoder {
    // A sink belongs to one call of `JSONWriter.encode`. Checks of exclusive access would take an eighth of the time.
    @exclusivity(unchecked) var writer = JSONWriter()
    /// The type of the value that is being written.
    @exclusivity(unchecked) private var type: Any.Type = Never.self
    /// The bracket that ends the value that is being written; `nil`: it is neither an object nor an array.
    @exclusivity(unchecked) private var endBracket: UInt8?
    /// The members that are left out of the object that is being written, if they have no value; `nil`: all of them.
    @exclusivity(unchecked) private var leftOut: [String]?
    /// Where each member of a dictionary begins; `nil`: the object that is being written is none.
    @exclusivity(unchecked) private var unsorted: [(name: String, begin: Int)]?

    package var codingPath: [any CodingKey] { [] }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    func write<Value: Encodable>(_ value: Value) throws {
        if writer.tryScalar(value) { return }
        let outer = (type, endBracket, leftOut, unsorted)
        defer { (type, endBracket, leftOut, unsorted) = outer }
        (type, endBracket, leftOut, unsorted) = (Value.self, nil, nil, nil)
        try value.encode(to: self)
        if let unsorted { writer.sort(unsorted) }
        if let endBracket { writer.close(endBracket) }
    }

    /// Writes JSON text unchanged.
    package func write(raw text: some Sequence<UInt8>) { writer.raw(text) }

    // Members<Key> calls these three with the name as a text, because they would be slow if they were generic in Key.

    fileprivate func write(name: String) {
        if unsorted == nil { return writer.name(unescaped: name) }
        unsorted?.append((name, writer.bytes.count))
        writer.name(dynamic: name)
    }

    fileprivate func write<Value: Encodable>(_ name: String, _ value: Value) throws {
        write(name: name)
        try write(value)
    }

    fileprivate func write<Value: Encodable>(_ name: String, given value: Value?) throws {
        if let value { return try write(name, value) }
        guard let leftOut, !leftOut.contains(name) else { return }
        write(name: name)
        writer.null()
    }

    package func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedEncodingContainer<Key> {
        open("{", "}")
        leftOut = (type as? any WritesNulls.Type)?.leftOut
        // Only the keys of a dictionary may be numbers, too.
        if Key(intValue: 0) != nil { unsorted = [] }
        return KeyedEncodingContainer(Members(sink: self))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        open("[", "]")
        return Elements(sink: self)
    }

    package func singleValueContainer() -> any SingleValueEncodingContainer { self }

    private func open(_ begin: Unicode.Scalar, _ end: Unicode.Scalar) {
        precondition(self.endBracket == nil, "a value has one container")
        writer.open(UInt8(ascii: begin))
        self.endBracket = UInt8(ascii: end)
    }
}

extension JSONTextEncoder: SingleValueEncodingContainer {
    package func encodeNil() { writer.null() }
    package func encode(_ value: Bool) { writer.boolean(value) }
    package func encode(_ value: Float) { encode(Double(value)) }
    package func encode<Number: FixedWidthInteger & Encodable>(_ value: Number) { writer.raw("\(value)".utf8) }

    /// A whole number without a fraction. JSON has no infinity, so that and what is not a number are null.
    package func encode(_ value: Double) {
        guard value.isFinite else { return writer.null() }
        if let whole = Int(exactly: value) { writer.integer(whole) } else { writer.raw("\(value)".utf8) }
    }

    package func encode<Value: Encodable>(_ value: Value) throws { try write(value) }
}

extension JSONTextEncoder {
    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let sink: JSONTextEncoder
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) {
            sink.write(name: key.stringValue)
            sink.writer.null()
        }

        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try sink.write(key.stringValue, value) }

        func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            try sink.write(key.stringValue, given: value)
        }

        // The protocol has an own requirement for each plain type, which leaves `nil` out.
        func encodeIfPresent(_ value: String?, forKey key: Key) throws { try sink.write(key.stringValue, given: value) }
        func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try sink.write(key.stringValue, given: value) }
        func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try sink.write(key.stringValue, given: value) }
        func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try sink.write(key.stringValue, given: value) }

        func nestedContainer<Inner>(keyedBy _: Inner.Type, forKey _: Key) -> KeyedEncodingContainer<Inner> { refuse() }
        func nestedUnkeyedContainer(forKey _: Key) -> any UnkeyedEncodingContainer { refuse() }
        func superEncoder() -> any Encoder { refuse() }
        func superEncoder(forKey _: Key) -> any Encoder { refuse() }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let sink: JSONTextEncoder
        private(set) var count = 0
        var codingPath: [any CodingKey] { [] }

        init(sink: JSONTextEncoder) { self.sink = sink }

        mutating func encodeNil() {
            sink.writer.null()
            count += 1
        }

        mutating func encode<Value: Encodable>(_ value: Value) throws {
            try sink.write(value)
            count += 1
        }

        func nestedContainer<Inner>(keyedBy _: Inner.Type) -> KeyedEncodingContainer<Inner> { refuse() }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { refuse() }
        func superEncoder() -> any Encoder { refuse() }
    }
}

private func refuse() -> Never { preconditionFailure("a container in a container is not written") }
