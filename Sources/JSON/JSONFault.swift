/// Why a text is not read: what is wrong, and where.
package struct JSONFault: Error, Equatable {
    package enum Kind: Sendable {
        /// The text is not JSON, or is nested deeper than its reader allows.
        case malformed
        /// It has more values than its reader allows.
        case tooManyValues
    }

    package var kind: Kind
    /// Words for people, without a full stop.
    package var detail: String
    /// The byte at which it shows.
    package var offset: Int
    /// The value in which it shows, as a JSON Pointer (RFC 6901), where its reader knows.
    package var pointer = ""

    package init(_ detail: String, at offset: Int, kind: Kind = .malformed) {
        self.kind = kind
        self.detail = detail
        self.offset = offset
    }
}
