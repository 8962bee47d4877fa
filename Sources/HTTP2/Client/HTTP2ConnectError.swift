internal import Cryptography
internal import NIOCore
internal import NIOPosix

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

extension HTTP2ClientConfiguration {
    private var address: String { "\(host):\(port)" }

    /// What a failure up to TCP means to the operator.
    func error(connecting cause: any Error) -> HTTP2ConnectError {
        switch cause {
        case let known as HTTP2ConnectError: known
        case ChannelError.connectTimeout:
            HTTP2ConnectError(
                kind: .timedOut,
                message: "no TCP connection to \(address) within \(connectTimeout): check the network, and that no "
                    + "firewall drops port \(port)")
        case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
            connectError(Set(error.connectionErrors.map(\.error.summary)).sorted().joined(separator: "; "))
        case is NIOConnectionError, is SocketAddressError:
            HTTP2ConnectError(
                kind: .resolve, message: "\(host) has no address: check the name and this machine's DNS")
        default: connectError(cause.summary)
        }
    }

    private func connectError(_ reason: String) -> HTTP2ConnectError {
        HTTP2ConnectError(
            kind: .connect,
            message: "no TCP connection to \(address): \(reason): check host and port, and that the server runs")
    }

    /// What a failure after TCP means to the operator: at this stage the connection ended, for this reason.
    func error(at stage: Session.Stage, _ reason: String, cause: (any Error)?) -> HTTP2ConnectError {
        let isHandshake = stage == .handshaking
        let (kind, text): (HTTP2ConnectError.Kind, String)
        if cause is TimedOut {
            kind = .timedOut
            text =
                isHandshake
                ? "\(address) accepted the connection but no TLS handshake was done within \(connectTimeout): check that "
                    + "the port speaks TLS and that nothing in between holds the connection back"
                : "\(address) agreed on HTTP/2 but sent no SETTINGS within \(connectTimeout): check that it is an HTTP/2 "
                    + "server and not overloaded"
        } else if !isHandshake {
            kind = .settings
            text = "\(address) agreed on HTTP/2 but did not begin it: \(reason): check host and port"
        } else if cause as? TLSError == .noALPNMatch {
            kind = .alpn
            text =
                "\(address) speaks TLS but did not choose HTTP/2 (ALPN h2): check host and port, and that no proxy in "
                + "between ends TLS"
        } else {
            kind = .tls
            text = "TLS with \(address) failed: \(advice(cause as? TLSError, reason))"
        }
        return HTTP2ConnectError(kind: kind, message: text)
    }

    /// `connectTimeout` passed after TCP was connected.
    struct TimedOut: Error {}

    private func advice(_ error: TLSError?, _ reason: String) -> String {
        switch error {
        case .wrongName:
            "its certificate is not for \(serverName ?? host): check host and port (Apple's two management ports, "
                + "2195 and 2196, answer for different names)"
        case .untrusted(let reason):
            "its certificate is not signed by a trusted authority, or is expired (\(reason)): check "
                + (trustRoots == .system
                    ? "the system's CA certificates, the clock, and that nothing in between ends TLS"
                    : "that the configured CA file is the one of this server, and the clock")
        case .notTLS: "the server on this port does not speak TLS: check the port"
        case .oldVersion: "it does not speak TLS 1.2 or newer"
        case .noALPNMatch, .cut, .other, nil: "\(reason): check host and port"
        }
    }
}

extension HTTP2ClientConfiguration.TrustRoots {
    /// Reads the file, so that an unusable file is found before a connection is needed.
    ///
    /// - Throws: `HTTP2ConnectError` if the file contains no certificate.
    package func check() throws(HTTP2ConnectError) { _ = try tls() }

    /// TLS for a client: version 1.2 or newer, only ALPN `h2`, with full verification of the certificate. A server that
    /// asks for a client certificate gets an empty one (APNs does ask; docs/internals/apns.md 1.1).
    func tls() throws(HTTP2ConnectError) -> TLSContext {
        var roots = TLSContext.Roots.system
        if case .file(let path) = self {
            do {
                roots = .only(try Certificate.all(pem: readFile(path)))
            } catch {
                throw HTTP2ConnectError(
                    kind: .tls,
                    message: "the CA file \(path) can't be used: check that it exists, is readable and contains PEM "
                        + "certificates")
            }
        }
        do {
            return try .client(roots, protocols: ["h2"])
        } catch {
            throw HTTP2ConnectError(kind: .tls, message: "TLS can't be set up: \(error)")
        }
    }
}
