/// A JSON value that remembers the bytes it was read from, so that users' JSON stays byte for byte.
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

    /// The name of this kind of value in refusals.
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
    /// A member of an object; `nil` when there is none of that name, and of anything else.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = kind else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The whole number that it is, however it is written: `5.0` and `5e0` are 5, as in JSON Schema.
    package var integer: Int? {
        guard case .number(let text) = kind else { return nil }
        return Int(text) ?? Double(text).flatMap(Int.init(exactly:))
    }

    /// The text of a string; `nil` of anything else.
    package var string: String? { if case .string(let text) = kind { text } else { nil } }

    /// The elements of an array; `nil` of anything else.
    package var elements: [JSONValue]? { if case .array(let elements) = kind { elements } else { nil } }
}
