#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes JSON text member by member, in the order of the calls. Users' JSON is inserted unchanged.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    /// Writes `{`, the members that `body` writes, and `}`.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
    }

    /// Writes an array with one element per value.
    package mutating func array<Values: Sequence>(
        _ values: Values, _ element: (inout JSONWriter, Values.Element) -> Void
    ) {
        open(UInt8(ascii: "["))
        for value in values { element(&self, value) }
        close(UInt8(ascii: "]"))
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
    package mutating func name(_ name: StaticString) { name.withUTF8Buffer { self.name(unescaped: $0) } }

    /// Writes a member's name that is not known at compile time.
    package mutating func name(dynamic name: String) {
        separate()
        bytes.append(quoted: name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member's name that needs no escapes, as those in code.
    mutating func name(unescaped name: String) {
        var name = name
        name.withUTF8 { self.name(unescaped: $0) }
    }

    private mutating func name(unescaped name: UnsafeBufferPointer<UInt8>) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: name)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Sorts the members at the end of the text by their names.
    ///
    /// - Parameter members: the name of each, and where it begins.
    mutating func sort(_ members: [(name: String, begin: Int)]) {
        guard members.count > 1 else { return }
        let comma = UInt8(ascii: ",")
        let texts = zip(members, members.dropFirst().map(\.begin) + [bytes.count]).map { member, end in
            (name: member.name, text: bytes[member.begin..<end].drop { $0 == comma })
        }
        let sorted = Array(texts.sorted { $0.name < $1.name }.map(\.text).joined(separator: [comma]))
        bytes.replaceSubrange(members[0].begin..., with: sorted)
    }

    /// Writes any value of a type that is `Encodable` (`JSONTextEncoder`).
    package mutating func encode(_ value: some Encodable) {
        if tryScalar(value) { return }
        let sink = JSONTextEncoder()
        // The sink gets the text itself: a copy would be made of the whole text for each value.
        swap(&sink.writer, &self)
        defer { swap(&sink.writer, &self) }
        do { try sink.write(value) } catch {
            preconditionFailure("\(Swift.type(of: value)) cannot be written: \(error)")
        }
    }

    /// Writes a text, a whole number or a time; `false`: the value is neither. A container would take most of the time
    /// for these.
    mutating func tryScalar<Value>(_ value: Value) -> Bool {
        if Value.self == String.self, let text = value as? String {
            string(text)
        } else if Value.self == Int.self, let number = value as? Int {
            integer(number)
        } else if Value.self == Date.self, let date = value as? Date {
            string(RFC3339.text(date))
        } else {
            return false
        }
        return true
    }

    mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}

extension JSONWriter {
    /// The JSON text of a value.
    package static func text(_ value: some Encodable) -> [UInt8] {
        var writer = JSONWriter()
        writer.encode(value)
        return writer.bytes
    }

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

    /// `nil` is written as null.
    package mutating func member(_ name: StaticString, _ value: (some Encodable)?) {
        self.name(name)
        if let value { encode(value) } else { null() }
    }

    package mutating func member(_ name: StaticString, raw json: [UInt8]?) {
        self.name(name)
        if let json { raw(json) } else { null() }
    }
}
