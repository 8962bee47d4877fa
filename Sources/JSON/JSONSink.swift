#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An object whose optional members are written as null if they have no value. Those of other objects are left out.
package protocol WritesNulls {
    /// The members that are left out all the same.
    static var leftOut: Set<String> { get }
}

/// Writes the JSON of `Encodable` types. Members are in the order of their declaration, and those of dictionaries are
/// sorted by name, so that equal values give equal bytes. A `JSONWritable` writes itself.
///
/// The text is written while the value is encoded. So a type can open one container only, and no containers in it.
/// `JSONWriter.encode` uses it.
final class JSONSink: Encoder {
    var json = JSONWriter()
    /// The bracket that ends the value that is being written; `nil`: it is neither an object nor an array.
    fileprivate var end: UInt8?
    /// The members that are left out of the object that is being written, if they have no value; `nil`: all of them.
    private var leftOut: Set<String>?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func write<Value: Encodable>(_ value: Value) throws {
        if let leaf = value as? any JSONWritable { return leaf.write(to: &json) }
        let outer = (end, leftOut)
        defer { (end, leftOut) = outer }
        end = nil
        leftOut = (Value.self as? any WritesNulls.Type)?.leftOut
        try value.encode(to: self)
        if let end { json.close(end) }
    }

    fileprivate func writeAbsent(_ name: String) {
        guard let leftOut, !leftOut.contains(name) else { return }
        json.name(dynamic: name)
        json.null()
    }

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedEncodingContainer<Key> {
        open("{", "}")
        return KeyedEncodingContainer(Members(sink: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        open("[", "]")
        return Elements(sink: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    private func open(_ begin: Unicode.Scalar, _ end: Unicode.Scalar) {
        precondition(self.end == nil, "a value has one container")
        json.open(UInt8(ascii: begin))
        self.end = UInt8(ascii: end)
    }
}

extension JSONSink: SingleValueEncodingContainer {
    func encodeNil() { json.null() }
    func encode<Value: Encodable>(_ value: Value) throws { try write(value) }
}

extension JSONSink {
    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let sink: JSONSink
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) {
            sink.json.name(dynamic: key.stringValue)
            sink.json.null()
        }

        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            sink.json.name(dynamic: key.stringValue)
            try sink.write(value)
        }

        func encode(_ value: String, forKey key: Key) {
            sink.json.name(dynamic: key.stringValue)
            sink.json.string(value)
        }

        // The protocol has an own requirement for each plain type, which leaves `nil` out.
        func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try present(value, key) }
        func encodeIfPresent(_ value: String?, forKey key: Key) throws { try present(value, key) }
        func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try present(value, key) }
        func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try present(value, key) }
        func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try present(value, key) }

        private func present<Value: Encodable>(_ value: Value?, _ key: Key) throws {
            if let value { try encode(value, forKey: key) } else { sink.writeAbsent(key.stringValue) }
        }

        func nestedContainer<Inner>(keyedBy _: Inner.Type, forKey _: Key) -> KeyedEncodingContainer<Inner> { unused() }
        func nestedUnkeyedContainer(forKey _: Key) -> any UnkeyedEncodingContainer { unused() }
        func superEncoder() -> any Encoder { unused() }
        func superEncoder(forKey _: Key) -> any Encoder { unused() }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let sink: JSONSink
        private(set) var count = 0
        var codingPath: [any CodingKey] { [] }

        init(sink: JSONSink) { self.sink = sink }

        mutating func encodeNil() {
            sink.json.null()
            count += 1
        }

        mutating func encode<Value: Encodable>(_ value: Value) throws {
            try sink.write(value)
            count += 1
        }

        func nestedContainer<Inner>(keyedBy _: Inner.Type) -> KeyedEncodingContainer<Inner> { unused() }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { unused() }
        func superEncoder() -> any Encoder { unused() }
    }
}

private func unused() -> Never { preconditionFailure("a container in a container is not written") }

extension String: JSONWritable {
    package func write(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: JSONWritable {
    package func write(to json: inout JSONWriter) { json.boolean(self) }
}

extension Double: JSONWritable {
    /// A whole number without a fraction. JSON has no infinity, so that and what is not a number are null.
    package func write(to json: inout JSONWriter) {
        guard isFinite else { return json.null() }
        if let whole = Int(exactly: self) { json.integer(whole) } else { json.raw("\(self)".utf8) }
    }
}

extension Int: JSONWritable {
    package func write(to json: inout JSONWriter) { json.integer(self) }
}

extension Date: JSONWritable {
    /// RFC 3339 in UTC, with milliseconds.
    package func write(to json: inout JSONWriter) { json.string(RFC3339.text(self)) }
}

extension Dictionary: JSONWritable where Key == String, Value: Encodable {
    package func write(to json: inout JSONWriter) {
        json.object { object in
            for (name, value) in sorted(by: { $0.key < $1.key }) {
                object.name(dynamic: name)
                object.encode(value)
            }
        }
    }
}
