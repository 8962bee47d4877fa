/// A complete request, as a server received it.
package struct HTTP2ServerRequest: Sendable, Hashable {
    /// As sent: methods are case-sensitive.
    package var method: String
    /// Path and query as sent, percent-encoding included.
    package var path: String
    /// `:authority`; if `:authority` is missing, the `host` field (RFC 9113 8.3.1).
    package var authority: String
    /// Every regular field in the order received, including duplicates.
    package var headers: [HTTP2Header]
    /// At most `HTTP2ServerConfiguration.maximumRequestBody` bytes.
    package var body: [UInt8]
    /// Whether the body was longer than the limit. Then `body` is its beginning, and the rest was dropped.
    package var bodyTooLarge: Bool

    /// A connection makes its requests with this. Other code needs this only in tests.
    package init(
        method: String, path: String, authority: String, headers: [HTTP2Header], body: [UInt8],
        bodyTooLarge: Bool = false
    ) {
        self.method = method
        self.path = path
        self.authority = authority
        self.headers = headers
        self.body = body
        self.bodyTooLarge = bodyTooLarge
    }

    /// The value of the first field with this name, which must be in lower case.
    package subscript(header name: String) -> String? { headers.first(named: name) }
}
