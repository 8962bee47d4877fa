/// A JSON value with the bytes it was parsed from, so that users' JSON can be passed on byte for byte.
package struct JSONValue: Sendable {
    package enum Kind: Sendable {
        case null
        case bool(Bool)
        /// The number's text; it is never rounded.
        case number(String)
        case string(String)
        case array([JSONValue])
        /// Members in the order written; names are unique.
        case object([(name: String, value: JSONValue)])
    }

    package var kind: Kind
    /// The value's text as written, without the white space around it.
    package var source: ArraySlice<UInt8>

    init(kind: Kind, source: ArraySlice<UInt8>) {
        self.kind = kind
        self.source = source
    }

    package var bytes: [UInt8] { Array(source) }

    package var isNull: Bool { if case .null = kind { true } else { false } }

    /// The name of this kind of value, for errors.
    package var kindName: String {
        switch kind {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    /// A member of an object; `nil`: there is none with this name, or the value is not an object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = kind else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The whole number, in any notation: `5.0` and `50e-1` are 5, as in JSON Schema. Nothing is rounded, so `1e-400`
    /// gives `nil`.
    package var integer: Int? {
        guard case .number(let text) = kind else { return nil }
        return Int(text) ?? Self.integer(text)
    }

    /// - Parameter text: a number as JSON writes it, with a fraction or an exponent.
    private static func integer(_ text: String) -> Int? {
        let (zero, minus) = (UInt8(ascii: "0"), UInt8(ascii: "-"))
        let parts = text.utf8.split { $0 | 0x20 == UInt8(ascii: "e") }
        var digits = Array(parts[0])
        // The value is `digits` times ten to the power of `places`.
        var places = 0
        if let point = digits.firstIndex(of: UInt8(ascii: ".")) {
            places = point + 1 - digits.count
            digits.remove(at: point)
        }
        guard digits.contains(where: { $0 != zero && $0 != minus }) else { return 0 }
        if parts.count > 1 {
            guard let exponent = Int(Substring(parts[1])) else { return nil }
            let (sum, isOverflow) = places.addingReportingOverflow(exponent)
            guard !isOverflow else { return nil }
            places = sum
        }
        while places < 0, digits.last == zero {
            digits.removeLast()
            places += 1
        }
        // An Int has at most 19 digits.
        guard (0...18).contains(places) else { return nil }
        return Int(String(decoding: digits + Array(repeating: zero, count: places), as: UTF8.self))
    }

    /// The text of a string; `nil`: the value is not a string.
    package var string: String? { if case .string(let text) = kind { text } else { nil } }

    /// The elements of an array; `nil`: the value is not an array.
    package var elements: [JSONValue]? { if case .array(let elements) = kind { elements } else { nil } }
}
