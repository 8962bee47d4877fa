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

    /// Writes any value of a type that is `Encodable` (`JSONSink`).
    package mutating func encode(_ value: some Encodable) {
        if let leaf = value as? any JSONWritable { return leaf.write(to: &self) }
        let sink = JSONSink()
        // The sink gets the text itself: a copy would be made of the whole text for each value.
        swap(&sink.json, &self)
        defer { swap(&sink.json, &self) }
        do { try sink.write(value) } catch {
            preconditionFailure("\(Swift.type(of: value)) cannot be written: \(error)")
        }
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

/// A value that writes its own JSON, such as a text or a time.
package protocol JSONWritable {
    func write(to json: inout JSONWriter)
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

    /// An array with one object for each value.
    package mutating func objects<Values: Sequence>(
        _ name: StaticString, _ values: Values, _ members: (inout JSONWriter, Values.Element) -> Void
    ) {
        array(name, values) { writer, value in writer.object { members(&$0, value) } }
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
