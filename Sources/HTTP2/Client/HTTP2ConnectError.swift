/// Why a connection could not be opened, and what to check.
package struct HTTP2ConnectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The step that failed. The cases are in the order of the steps.
    package enum Kind: String, Sendable, Hashable {
        /// The name has no address.
        case resolve
        /// TCP could not connect.
        case connect
        /// The handshake failed: certificate, host name, protocol version, or not TLS at all.
        case tls
        /// TLS is up, but the peer did not choose `h2`.
        case alpn
        /// TLS and ALPN succeeded, but the server did not begin an HTTP/2 connection.
        case settings
        /// `connectTimeout` passed; the message says in which step.
        case timedOut
    }

    /// The step that failed.
    package var kind: Kind
    /// One line: what failed, where, and what to check.
    package var message: String

    /// - Parameter message: one line that also says what to check.
    package init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    /// The message alone.
    package var description: String { message }
}
