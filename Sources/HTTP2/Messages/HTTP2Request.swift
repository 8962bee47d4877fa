/// A request as a client sends it. The scheme is always `https`.
package struct HTTP2Request: Sendable, Hashable {
    /// In upper case: `POST`.
    package var method: String
    /// Path and query, already percent-encoded.
    package var path: String
    /// Host, and port when it isn't 443.
    package var authority: String
    /// Regular fields only. The four pseudo fields are made from the properties above.
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
