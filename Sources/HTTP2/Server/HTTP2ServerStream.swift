/// The stream on which a request is answered. Only the first call of `respond` or `reset` has an effect. After the
/// stream is closed, no call has an effect. Both methods may be called from any thread, at once or later.
package final class HTTP2ServerStream: Sendable {
    /// The connection on which the request came.
    package let connection: HTTP2ServerConnection
    private let slot: Int
    private let stream: Int32

    init(connection: HTTP2ServerConnection, slot: Int, stream: Int32) {
        self.connection = connection
        self.slot = slot
        self.stream = stream
    }

    /// The HTTP/2 stream ID: odd, and higher for each request of a connection.
    package var id: Int { Int(stream) }

    /// Sends the answer. The body is left out if the answer must not have one (HEAD, 204, 304).
    package func respond(status: Int, headers: [HTTP2Header], body: [UInt8]) {
        connection.order(.respond(slot: slot, stream: stream, status: status, headers: headers, body: body))
    }

    /// Sends RST_STREAM with an `HTTP2ErrorCode` or any other number.
    package func reset(code: UInt32) { connection.order(.reset(slot: slot, stream: stream, code: code)) }
}
