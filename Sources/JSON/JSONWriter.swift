#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Writes JSON text member by member, in the order of the calls. Users' JSON is inserted unchanged.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    /// Writes `{`, the members that `body` writes, and `}`.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        separate()
        nest(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    /// Writes an array with one element per value.
    package mutating func array<Values: Sequence>(
        _ values: Values, _ element: (inout JSONWriter, Values.Element) -> Void
    ) {
        separate()
        nest(UInt8(ascii: "["), UInt8(ascii: "]")) { writer in
            for value in values { element(&writer, value) }
        }
    }

    package mutating func string(_ value: String) {
        separate()
        bytes.append(quoted: value)
    }

    package mutating func integer(_ value: Int) {
        separate()
        bytes += String(value).utf8
    }

    package mutating func boolean(_ value: Bool) {
        separate()
        bytes += (value ? "true" : "false").utf8
    }

    package mutating func null() {
        separate()
        bytes += "null".utf8
    }

    /// Inserts JSON text unchanged.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes += json
    }

    /// Writes a member's name; its value must follow.
    package mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes += $0 }
        bytes += "\":".utf8
        needsComma = false
    }

    /// Writes a member's name that is not known at compile time.
    package mutating func name(dynamic name: String) {
        separate()
        bytes.append(quoted: name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func nest(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }
}

/// A value that can be written as JSON.
package protocol JSONWritable {
    func write(to json: inout JSONWriter)
}

/// A value that is written as an object. Its members may also be written into another object.
package protocol JSONObjectWritable: JSONWritable {
    func write(members object: inout JSONWriter)
}

extension JSONObjectWritable {
    package func write(to json: inout JSONWriter) { json.object(write(members:)) }
}

extension JSONWriter {
    /// The whole text of an object.
    package static func text(ofObject members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(members)
        return writer.bytes
    }

    package mutating func object(_ name: StaticString, _ members: (inout JSONWriter) -> Void) {
        self.name(name)
        object(members)
    }

    package mutating func array<Values: Sequence>(
        _ name: StaticString, _ values: Values, _ element: (inout JSONWriter, Values.Element) -> Void
    ) {
        self.name(name)
        array(values, element)
    }

    /// An array with one object for each value.
    package mutating func objects<Values: Sequence>(
        _ name: StaticString, _ values: Values, _ members: (inout JSONWriter, Values.Element) -> Void
    ) {
        array(name, values) { writer, value in writer.object { members(&$0, value) } }
    }

    /// The JSON text of one value.
    package static func text(_ value: some JSONWritable) -> [UInt8] {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.bytes
    }

    package mutating func member(_ name: StaticString, _ value: String?) {
        self.name(name)
        if let value { string(value) } else { null() }
    }

    package mutating func member(_ name: StaticString, _ value: Int?) {
        self.name(name)
        if let value { integer(value) } else { null() }
    }

    package mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        boolean(value)
    }

    /// A time as RFC 3339 in UTC, with milliseconds.
    package mutating func member(_ name: StaticString, _ value: Date?) {
        member(name, value.map(RFC3339.text))
    }

    package mutating func member(_ name: StaticString, _ value: (some JSONWritable)?) {
        self.name(name)
        if let value { value.write(to: &self) } else { null() }
    }

    package mutating func member(_ name: StaticString, raw json: [UInt8]?) {
        self.name(name)
        if let json { raw(json) } else { null() }
    }

    package mutating func member(_ name: StaticString, _ values: [some JSONWritable]) {
        array(name, values) { writer, value in value.write(to: &writer) }
    }

    package mutating func member(_ name: StaticString, _ values: [String]) {
        array(name, values) { writer, value in writer.string(value) }
    }

    /// An object of numbers. Its names are not known at compile time; they are written in the given order.
    package mutating func member(_ name: StaticString, counts: [(String, Int)]) {
        object(name) { writer in
            for (word, count) in counts {
                writer.name(dynamic: word)
                writer.integer(count)
            }
        }
    }
}
