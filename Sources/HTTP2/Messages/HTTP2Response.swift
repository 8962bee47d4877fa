/// A whole answer: final status, regular fields in the order they came, body. Informational answers and trailers are
/// read and dropped.
package struct HTTP2Response: Sendable, Hashable {
    /// 200 to 599.
    package var status: Int
    /// Lowercase names, in the order they came, duplicates kept.
    package var headers: [HTTP2Header]
    /// At most `HTTP2ClientConfiguration.maximumResponseBody` bytes.
    package var body: [UInt8]

    /// For tests and stand-ins; real ones come from a connection.
    package init(status: Int, headers: [HTTP2Header], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first field of that (lowercase) name.
    package subscript(header name: String) -> String? { headers.first(named: name) }
}
