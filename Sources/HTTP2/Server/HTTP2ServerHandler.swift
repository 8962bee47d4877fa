/// The handler of a server's connections and requests.
///
/// Called on the connection's event loop: answer quickly, or hand the stream to a task and answer later.
package protocol HTTP2ServerHandler: Sendable {
    /// TLS and `h2` are agreed on; SETTINGS are on their way.
    func opened(_ connection: HTTP2ServerConnection)
    /// A whole request, once the peer ended it.
    func received(_ request: HTTP2ServerRequest, on stream: HTTP2ServerStream)
    /// The connection is gone; nothing more is called for it.
    func closed(_ connection: HTTP2ServerConnection)
}
