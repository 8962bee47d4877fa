/// One header field, as it is written on the wire.
package struct HTTP2Header: Sendable, Hashable {
    /// Whether HPACK may remember the field in the connection's dynamic table.
    package enum Indexing: Sendable, Hashable {
        /// nghttp2 decides: it remembers everything but `:path`, `authorization`, cookies and other short-lived names.
        case automatic
        /// A literal, never indexed: for secrets, and for values that differ in every request.
        case never
    }

    /// Lowercase, as RFC 9113 8.2.1 demands. A request with another name is refused before it is written.
    package var name: String
    /// Without CR, LF, NUL or other control characters (RFC 9113 8.2.1); else the request is refused before it is
    /// written, the answer reset.
    package var value: String
    /// How HPACK may treat the field when it is sent; of received fields it says nothing.
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

    /// As `description`.
    package var debugDescription: String { description }
}

extension [HTTP2Header] {
    /// The value of the first field of that (lowercase) name.
    package func first(named name: String) -> String? {
        first { $0.name == name }?.value
    }
}
