/// A whole answer: final status, regular fields in the order they came, body. Informational answers and trailers are
/// read and dropped.
package struct HTTP2Response: Sendable, Hashable {
    package var status: Int
    package var headers: [HTTP2Header]
    package var body: [UInt8]

    package init(status: Int, headers: [HTTP2Header], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first field of that (lowercase) name.
    package subscript(header name: String) -> String? { headers.first(named: name) }
}
