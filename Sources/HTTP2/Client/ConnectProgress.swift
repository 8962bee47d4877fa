internal import NIOCore
internal import NIOPosix

/// The progress of a connection attempt, which decides what a failure means to the operator.
enum ConnectProgress {
    /// TCP is connected, and TLS is in progress.
    case handshaking
    /// TLS and `h2` are negotiated.
    case awaitingSettings

    private static func address(_ configuration: HTTP2ClientConfiguration) -> String {
        "\(configuration.host):\(configuration.port)"
    }

    private static func name(_ configuration: HTTP2ClientConfiguration) -> String {
        configuration.serverName ?? configuration.host
    }

    // MARK: After TCP

    /// The channel reported an error.
    func error(_ configuration: HTTP2ClientConfiguration, cause: any Error) -> HTTP2ConnectError {
        switch self {
        case .handshaking: Self.handshakeError(configuration, cause: cause)
        case .awaitingSettings: ended(configuration, reason: Self.lossText(cause))
        }
    }

    /// The connection ended at this point.
    func ended(_ configuration: HTTP2ClientConfiguration, reason: String) -> HTTP2ConnectError {
        let address = Self.address(configuration)
        return switch self {
        case .handshaking:
            HTTP2ConnectError(kind: .tls, message: "TLS with \(address) failed: \(reason): check host and port")
        case .awaitingSettings:
            HTTP2ConnectError(
                kind: .settings,
                message: "\(address) agreed on HTTP/2 but did not begin it: \(reason): check host and port")
        }
    }

    func timeout(_ configuration: HTTP2ClientConfiguration) -> HTTP2ConnectError {
        let address = Self.address(configuration)
        let what =
            switch self {
            case .handshaking:
                "\(address) accepted the connection but no TLS handshake was done within \(configuration.connectTimeout)"
                    + ": check that the port speaks TLS and that nothing in between holds the connection back"
            case .awaitingSettings:
                "\(address) agreed on HTTP/2 but sent no SETTINGS within \(configuration.connectTimeout)"
                    + ": check that it is an HTTP/2 server and not overloaded"
            }
        return HTTP2ConnectError(kind: .timedOut, message: what)
    }

    static func noHTTP2(_ configuration: HTTP2ClientConfiguration) -> HTTP2ConnectError {
        HTTP2ConnectError(
            kind: .alpn,
            message:
                "\(address(configuration)) speaks TLS but did not choose HTTP/2 (ALPN h2): check host and port, and "
                + "that no proxy in between ends TLS")
    }

    private static func handshakeError(
        _ configuration: HTTP2ClientConfiguration, cause: any Error
    ) -> HTTP2ConnectError {
        let address = address(configuration)
        let advice: String
        switch cause as? TLSError {
        case .wrongName: return wrongName(configuration)
        case .noProtocol: return noHTTP2(configuration)
        case .untrusted(let reason):
            advice =
                "its certificate is not signed by a trusted authority, or is expired (\(reason)): check "
                + (configuration.trustRoots == .system
                    ? "the system's CA certificates, the clock, and that nothing in between ends TLS"
                    : "that the configured CA file is the one of this server, and the clock")
        case .notTLS: advice = "the server on this port does not speak TLS: check the port"
        case .oldVersion: advice = "it does not speak TLS 1.2 or newer"
        case .cut, .other, nil: advice = lossText(cause) + ": check host and port"
        }
        return HTTP2ConnectError(kind: .tls, message: "TLS with \(address) failed: \(advice)")
    }

    private static func wrongName(_ configuration: HTTP2ClientConfiguration) -> HTTP2ConnectError {
        HTTP2ConnectError(
            kind: .tls,
            message: "TLS with \(address(configuration)) failed: its certificate is not for \(name(configuration)): "
                + "check host and port (Apple's two management ports, 2195 and 2196, answer for different names)")
    }

    // MARK: Up to TCP

    /// The failure of `ClientBootstrap.connect`.
    static func connectError(_ configuration: HTTP2ClientConfiguration, cause: any Error) -> HTTP2ConnectError {
        if let known = cause as? HTTP2ConnectError { return known }
        let host = configuration.host
        let address = address(configuration)
        switch cause {
        case ChannelError.connectTimeout:
            return HTTP2ConnectError(
                kind: .timedOut,
                message:
                    "no TCP connection to \(address) within \(configuration.connectTimeout): check the network, and "
                    + "that no firewall drops port \(configuration.port)")
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            return HTTP2ConnectError(
                kind: .resolve,
                message: "\(host) has no address: check the name and this machine's DNS")
        case let error as NIOConnectionError:
            let reasons = error.connectionErrors.map { lossText($0.error) }
            return HTTP2ConnectError(
                kind: .connect,
                message:
                    "no TCP connection to \(address): \(Set(reasons).sorted().joined(separator: "; ")): check host "
                    + "and port, and that the server runs")
        case is SocketAddressError:
            return HTTP2ConnectError(
                kind: .resolve,
                message: "\(host) has no address: check the name and this machine's DNS")
        default:
            return HTTP2ConnectError(
                kind: .connect,
                message:
                    "no TCP connection to \(address): \(lossText(cause)): check host and port, and that the server runs"
            )
        }
    }

    /// A short text for an I/O error.
    static func lossText(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(errno: error.errnoCode)
        default: String(describing: error)
        }
    }
}
