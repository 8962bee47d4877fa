/// The destination of a client connection, and its limits.
package struct HTTP2ClientConfiguration: Sendable {
    /// The authorities that may sign the server's certificate.
    package enum TrustRoots: Sendable, Hashable {
        /// The system's certificate authorities.
        case system
        /// Only the certificates of this PEM file.
        case file(String)
    }

    /// A host name, which is resolved for every connection, or an IP address.
    package var host: String
    /// The TCP port.
    package var port: Int
    /// The name that the certificate must carry and that is sent as SNI; `nil`: `host`. If it is an IP address, no SNI
    /// is sent, and the certificate must carry the address.
    package var serverName: String?
    /// The authorities that may sign the certificate.
    package var trustRoots: TrustRoots = .system
    /// The time from the look-up of the name to the peer's first SETTINGS.
    package var connectTimeout: Duration = .seconds(10)
    /// The maximum number of bytes of one answer's body. The longest real body, a list of 10,000 channels, has about
    /// 300 KB. If an answer is longer, its stream is reset.
    package var maximumResponseBody: Int = 4 << 20
    /// The largest size of one answer's header fields by RFC 9113 6.5.2 (name + value + 32 each).
    package var maximumHeaderListSize: Int = 64 << 10
    /// The maximum number of body bytes of all incomplete answers on this connection together.
    package var maximumBufferedBytes: Int = 32 << 20
    /// The silence after which a PING is sent while no answer is awaited. Apple asks for at least one PING an hour; one
    /// PING a minute keeps NAT entries alive.
    package var idlePingInterval: Duration = .seconds(60)
    /// The silence after which a PING is sent while answers are awaited.
    package var busyPingInterval: Duration = .seconds(5)
    /// How long the peer may stay silent after a PING before the connection is closed.
    package var pingTimeout: Duration = .seconds(5)
    /// The maximum number of streams before `liftInitialLimit()` is called, even if SETTINGS allows more. It is 1 for
    /// APNs with provider tokens.
    package var initialStreamLimit: Int = .max
    /// The most streams at any time, even if SETTINGS allows more.
    package var maximumConcurrentStreams: Int = 1_000
    /// Called on the connection's loop for every answered request, so this function must be fast. It gets the time from
    /// the call until the request had a stream, and the time from then to the end of the answer.
    package var onAnswer: (@Sendable (_ queued: Duration, _ roundTrip: Duration) -> Void)?
    /// How long `close()` waits for the requests in flight.
    package var drainTimeout: Duration = .seconds(10)

    /// The ID of the first stream, for tests in which the stream IDs run out.
    var firstStreamID: Int32 = 1

    /// All other settings have their defaults.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}
