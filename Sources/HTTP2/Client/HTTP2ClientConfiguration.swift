/// The destination of a client connection, and its limits.
package struct HTTP2ClientConfiguration: Sendable {
    /// The authorities that may sign the server's certificate.
    package enum TrustRoots: Sendable, Hashable {
        /// The system's certificate authorities.
        case system
        /// The certificates of one PEM file and no others.
        case file(String)
    }

    /// A name, looked up anew for every connection, or an IP address.
    package var host: String
    /// The TCP port.
    package var port: Int
    /// The name the certificate must carry, and the one sent as SNI; `nil`: `host`. For an IP address no SNI is sent
    /// and the certificate must carry the address.
    package var serverName: String?
    /// The way goes through this proxy; `nil`: straight.
    package var proxy: HTTP2Proxy?
    /// The authorities that may sign the certificate.
    package var trustRoots: TrustRoots = .system
    /// From the look-up to the peer's first SETTINGS, all together.
    package var connectTimeout: Duration = .seconds(10)
    /// Bytes of one answer's body; the longest real one, a list of 10,000 channels, takes about 300 KB. A longer
    /// answer resets its stream.
    package var maximumResponseBody: Int = 4 << 20
    /// Bytes of one answer's header fields, counted as RFC 9113 6.5.2 does (name + value + 32 each).
    package var maximumHeaderList: Int = 64 << 10
    /// Bytes of all answers that are being received on this connection.
    package var maximumBufferedBytes: Int = 32 << 20
    /// A PING goes out when nothing was read for so long and no answer is awaited. Apple asks for one an hour at
    /// least; a minute keeps NAT tables warm.
    package var pingInterval: Duration = .seconds(60)
    /// A PING goes out when answers are awaited and nothing was read for so long.
    package var overdueInterval: Duration = .seconds(5)
    /// A PING not followed by anything from the peer for so long closes the connection.
    package var pingTimeout: Duration = .seconds(5)
    /// Streams allowed before `streamsProven()`, whatever SETTINGS says: 1 for APNs with provider tokens.
    package var initialConcurrency: Int = .max
    /// Streams ever used at once, whatever SETTINGS says; a peer that names no limit gets this one.
    package var maximumConcurrentStreams: Int = 1_000
    /// Told of every answered request, on the connection's loop: it must be short.
    package var onAnswer: (@Sendable (HTTP2RequestTiming) -> Void)?
    /// How long `close()` waits for the requests in flight.
    package var drainTimeout: Duration = .seconds(10)

    /// The id of the first stream, for tests of what happens when ids run out.
    var firstStream: Int32 = 1

    /// Everything else as the defaults above say.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}
