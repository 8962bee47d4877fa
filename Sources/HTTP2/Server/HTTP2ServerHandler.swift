/// The handler of a server's connections and requests.
///
/// The methods are called on the connection's event loop. A method should answer quickly, or pass the stream to a task
/// that answers later.
package protocol HTTP2ServerHandler: Sendable {
    /// TLS and `h2` were negotiated, and SETTINGS are being sent.
    func opened(_ connection: HTTP2ServerConnection)
    /// A complete request was received.
    ///
    /// - Parameter bodyIsCut: the body was longer than `HTTP2ServerConfiguration.maximumRequestBody`. `request.body` is
    ///   its beginning, and the rest was dropped.
    func received(_ request: HTTP2Request, bodyIsCut: Bool, on stream: HTTP2ServerStream)
    /// The connection has ended. There are no more calls for it.
    func closed(_ connection: HTTP2ServerConnection)
}

/// The stream on which a request is answered. Only the first call of `respond` or `reset` has an effect. After the
/// stream is closed, no call has an effect. Both methods may be called from any thread, at once or later.
package struct HTTP2ServerStream: Sendable {
    /// The connection on which the request came.
    package let connection: HTTP2ServerConnection
    let stream: Int32

    /// The HTTP/2 stream ID: odd, and higher for each request of a connection.
    package var id: Int { Int(stream) }

    /// Sends the answer. The body is left out if the answer must not have one (HEAD, 204, 304).
    package func respond(status: Int, headers: [HTTP2Header], body: [UInt8]) {
        connection.order { [stream] in $0.respond(stream, status: status, headers: headers, body: body) }
    }

    /// Sends RST_STREAM with an `HTTP2ErrorCode` or any other number.
    package func reset(code: UInt32) { connection.order { [stream] in $0.settle(stream, resetting: code) } }
}
