/// A whole answer: final status, regular fields in the order they came, body. Informational answers and trailers are
/// read and dropped.
package struct HTTP2Response: Sendable, Hashable {
    /// 200 to 599.
    package var status: Int
    /// At most `HTTP2ClientConfiguration.maximumResponseBody` bytes.
    package var body: [UInt8]
    private let fields: FieldBlock

    /// For tests and stand-ins; real ones come from a connection.
    package init(status: Int, headers: [HTTP2Header], body: [UInt8]) {
        self.init(status: status, fields: FieldBlock(headers), body: body)
    }

    init(status: Int, fields: FieldBlock, body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Lowercase names, in the order they came, duplicates kept. Made anew each time it is asked for.
    package var headers: [HTTP2Header] { fields.headers }

    /// The value of the first field of that (lowercase) name.
    package subscript(header name: String) -> String? { fields.first(named: name) }
}
