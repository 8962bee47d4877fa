/// A request, as a client sends it and a server receives it. The scheme is always `https`.
package struct HTTP2Request: Sendable, Hashable {
    /// Methods are case-sensitive: `POST`.
    package var method: String
    /// Path and query, percent-encoded.
    package var path: String
    /// Host, and port when it isn't 443. A server takes it from the field `host` if `:authority` is missing (RFC 9113
    /// 8.3.1).
    package var authority: String
    /// The regular fields in order, including duplicates. The four pseudo fields are the properties above.
    package var headers: [HTTP2Header]
    /// The body is sent unchanged; no `content-length` is added. If the body is empty, the request ends with its
    /// header.
    package var body: [UInt8]

    /// A complete request; nothing is added to it.
    package init(method: String, path: String, authority: String, headers: [HTTP2Header], body: [UInt8]) {
        self.method = method
        self.path = path
        self.authority = authority
        self.headers = headers
        self.body = body
    }
}

/// A complete answer. Informational answers and trailers are dropped.
package struct HTTP2Response: Sendable, Hashable {
    /// 200 to 599.
    package var status: Int
    /// The regular fields in the order received, including duplicates.
    package var headers: [HTTP2Header]
    /// At most `HTTP2ClientConfiguration.maximumResponseBody` bytes.
    package var body: [UInt8]

    /// A connection makes its responses with this. Other code needs this only in tests.
    package init(status: Int, headers: [HTTP2Header], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first field with this name, which must be in lower case.
    package subscript(header name: String) -> String? { headers.first(named: name) }
}

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
