/// The handler of a server's connections and requests.
///
/// The methods are called on the connection's event loop. A method should answer quickly, or pass the stream to a task
/// that answers later.
package protocol HTTP2ServerHandler: Sendable {
    /// TLS and `h2` were negotiated, and SETTINGS are being sent.
    func opened(_ connection: HTTP2ServerConnection)
    /// A complete request was received.
    func received(_ request: HTTP2ServerRequest, on stream: HTTP2ServerStream)
    /// The connection has ended. There are no more calls for it.
    func closed(_ connection: HTTP2ServerConnection)
}
