/// PEM text, by path or in memory.
package enum HTTP2PEM: Sendable, Hashable {
    /// Read when the server starts, and not again.
    case file(String)
    /// The PEM text as UTF-8.
    case bytes([UInt8])
}

/// A server's address, certificate and limits.
package struct HTTP2ServerConfiguration: Sendable {
    /// An address or a name of this machine.
    package var host: String
    /// 0 takes a free port: see `HTTP2Server.port`.
    package var port: Int
    /// The server's certificate first, then intermediates.
    package var certificateChain: HTTP2PEM
    /// Of the first certificate; without a passphrase.
    package var privateKey: HTTP2PEM
    /// SETTINGS_MAX_CONCURRENT_STREAMS of a new connection.
    package var initialMaximumConcurrentStreams: Int = 1_000
    /// Bytes of one request's body that are kept; more are read, dropped and flagged.
    package var maximumRequestBody: Int = 64 << 10
    /// Bytes of one request's header fields, counted as RFC 9113 6.5.2 does (name + value + 32 each); more reset the
    /// stream.
    package var maximumHeaderList: Int = 32 << 10
    /// Body bytes a client may send unasked, on the whole connection; what it may send on one stream is HTTP/2's
    /// 65,535. APNs' connections have the same.
    package var connectionWindow: Int = 65_535
    /// From the accepted socket to the peer's first SETTINGS.
    package var handshakeTimeout: Duration = .seconds(10)
    /// A connection that owes no answer and sent nothing for so long is closed.
    package var idleTimeout: Duration = .seconds(3_600)
    /// How long `stop()` waits for the answers that are owed.
    package var drainTimeout: Duration = .seconds(2)
    /// Bytes of one request's body, kept or dropped, after which its stream is reset with ENHANCE_YOUR_CALM: an endless
    /// body ends here.
    package var maximumBodyRead: Int = 16 << 20
    /// Connections at a time; more are closed as they come.
    package var maximumConnections: Int = .max
    /// Decides about a connection once its ClientHello is read. `nil`: all are served.
    package var admission: (@Sendable (_ serverName: String?) -> HTTP2Admission)?
    /// Chain and key shown to connections admitted with `.otherIdentity`.
    package var otherIdentity: (certificateChain: HTTP2PEM, privateKey: HTTP2PEM)?

    /// TLS asks clients for a certificate: none is fine, one that is sent ends the handshake, since nothing here trusts
    /// any.
    package var asksForClientCertificate = false

    /// Everything else as the defaults above say.
    package init(host: String, port: Int, certificateChain: HTTP2PEM, privateKey: HTTP2PEM) {
        self.host = host
        self.port = port
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}

/// How a connection goes on after its client has named the server (SNI).
package enum HTTP2Admission: Sendable, Hashable {
    /// TLS goes on.
    case serve
    /// Closed in the middle of the handshake, without an alert.
    case close
    /// TLS goes on with `HTTP2ServerConfiguration.otherIdentity`; without one as with `serve`.
    case otherIdentity
}
