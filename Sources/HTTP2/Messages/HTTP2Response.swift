/// A complete answer: the final status, the regular fields in the order received, and the body. Informational answers
/// and trailers are dropped.
package struct HTTP2Response: Sendable, Hashable {
    /// 200 to 599.
    package var status: Int
    /// At most `HTTP2ClientConfiguration.maximumResponseBody` bytes.
    package var body: [UInt8]
    private let fields: FieldBlock

    /// Makes a response for a test. A connection makes its responses with another initializer.
    package init(status: Int, headers: [HTTP2Header], body: [UInt8]) {
        self.init(status: status, fields: FieldBlock(headers), body: body)
    }

    init(status: Int, fields: FieldBlock, body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The fields in the order received, with names in lower case and with duplicates. The array is made at each call.
    package var headers: [HTTP2Header] { fields.headers }

    /// The value of the first field with this name, which must be in lower case.
    package subscript(header name: String) -> String? { fields.first(named: name) }
}
