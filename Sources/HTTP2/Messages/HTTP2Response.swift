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
