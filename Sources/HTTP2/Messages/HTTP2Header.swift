/// One header field.
package struct HTTP2Header: Sendable, Hashable {
    /// Whether HPACK may remember the field in the connection's dynamic table.
    package enum Indexing: Sendable, Hashable {
        /// nghttp2 decides: it stores everything except `:path`, `authorization`, cookies and other short-lived fields.
        case automatic
        /// A literal, never indexed: for secrets, and for values that differ in every request.
        case never
    }

    /// In lower case, as RFC 9113 8.2.1 requires. A request with an invalid name is refused before it is written.
    package var name: String
    /// The value has no CR, LF, NUL or other control characters (RFC 9113 8.2.1). If it has one, a request is refused
    /// before it is written, and an answer's stream is reset.
    package var value: String
    /// How HPACK may treat the field when it is sent. It has no meaning for received fields.
    package var indexing: Indexing

    /// A field whose name is lowercase.
    package init(_ name: String, _ value: String, indexing: Indexing = .automatic) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }
}

extension HTTP2Header: CustomStringConvertible, CustomDebugStringConvertible {
    /// `name: value`; the value of `authorization` is never printed.
    package var description: String { name == "authorization" ? "authorization: …" : "\(name): \(value)" }

    /// The same text as `description`: the value of `authorization` is never printed.
    package var debugDescription: String { description }
}

extension [HTTP2Header] {
    /// The value of the first field with this name, which must be in lower case.
    package func first(named name: String) -> String? {
        first { $0.name == name }?.value
    }
}
