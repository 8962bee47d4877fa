/// A server's address, certificate and limits.
package struct HTTP2ServerConfiguration: Sendable {
    /// An address or a name of this machine.
    package var host: String
    /// 0: the system picks a free port, see `HTTP2Server.port`.
    package var port: Int
    /// The server's certificate. Its protocols must be `h2` only.
    package var tls: TLSContext
    /// The certificate for connections that are admitted with `.otherIdentity`; `nil`: they get `tls`, too.
    package var otherTLS: TLSContext?
    /// SETTINGS_MAX_CONCURRENT_STREAMS of a new connection.
    package var initialMaximumConcurrentStreams: Int = 1_000
    /// The most bytes of one request's body that are kept. Further bytes are dropped, and the handler is told so.
    package var maximumRequestBody: Int = 64 << 10
    /// The largest size of one request's header fields by RFC 9113 6.5.2 (name + value + 32 each). A larger one resets
    /// the stream.
    package var maximumHeaderList: Int = 32 << 10
    /// The time from the accepted socket to the peer's first SETTINGS.
    package var handshakeTimeout: Duration = .seconds(10)
    /// The silence after which a connection without outstanding answers is closed.
    package var idleTimeout: Duration = .seconds(3_600)
    /// How long `stop()` waits for outstanding answers.
    package var drainTimeout: Duration = .seconds(2)
    /// The most bytes of one request's body that are read, including those that are dropped. A longer body resets the
    /// stream with ENHANCE_YOUR_CALM, so that no client can send without end.
    package var maximumBodyRead: Int = 16 << 20
    /// The most open connections. Further ones are closed at once.
    package var maximumConnections: Int = .max
    /// Decides about a connection after its ClientHello; `nil`: all are served.
    package var admission: (@Sendable (_ serverName: String?) -> HTTP2Admission)?

    /// All other settings have their defaults.
    package init(host: String, port: Int, tls: TLSContext) {
        self.host = host
        self.port = port
        self.tls = tls
    }
}

/// What happens to a connection after its client has sent the server's name (SNI).
package enum HTTP2Admission: Sendable, Hashable {
    /// TLS continues.
    case serve
    /// The connection is closed during the handshake, without an alert.
    case close
    /// TLS continues with `HTTP2ServerConfiguration.otherTLS`.
    case otherIdentity
}
