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
