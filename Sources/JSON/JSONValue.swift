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

    /// The whole number, in any notation: `5.0` and `5e0` are 5, as in JSON Schema.
    package var integer: Int? {
        guard case .number(let text) = kind else { return nil }
        return Int(text) ?? Double(text).flatMap(Int.init(exactly:))
    }

    /// The text of a string; `nil`: the value is not a string.
    package var string: String? { if case .string(let text) = kind { text } else { nil } }

    /// The elements of an array; `nil`: the value is not an array.
    package var elements: [JSONValue]? { if case .array(let elements) = kind { elements } else { nil } }
}
