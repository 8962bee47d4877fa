/// Why a JSON text was refused: what is wrong, and where.
package struct JSONFault: Error, Equatable {
    package enum Kind: Sendable {
        /// The text is not JSON, or is nested too deeply.
        case malformed
        /// The text has too many values.
        case tooManyValues
    }

    package var kind: Kind
    /// A text for people, without a full stop.
    package var detail: String
    /// The offset of the faulty byte.
    package var offset: Int
    /// The faulty value as a JSON Pointer (RFC 6901); empty if the position is not known.
    package var pointer = ""

    package init(_ detail: String, at offset: Int, kind: Kind = .malformed) {
        self.kind = kind
        self.detail = detail
        self.offset = offset
    }
}
