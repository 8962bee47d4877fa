/// An HTTP proxy that opens TLS connections with CONNECT (RFC 9110 9.3.6), for servers behind firewalls.
package struct HTTP2Proxy: Sendable, Hashable {
    /// The proxy's name, which is resolved for every connection, or its address.
    package var host: String
    /// The proxy's TCP port.
    package var port: Int
    /// The value of `proxy-authorization`, a secret; `nil`: the header is not sent.
    package var authorization: String?

    /// - Parameter authorization: the whole value, such as `Basic …`.
    package init(host: String, port: Int, authorization: String? = nil) {
        self.host = host
        self.port = port
        self.authorization = authorization
    }
}

extension HTTP2Proxy: CustomStringConvertible, CustomDebugStringConvertible {
    /// Host and port, never the credentials.
    package var description: String { "\(host):\(port)" }

    /// Host and port, never the credentials: the same text as `description`.
    package var debugDescription: String { description }
}
