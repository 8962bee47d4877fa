internal import NIOCore
internal import NIOSSL

/// TLS for a client: version 1.2 or newer, only ALPN `h2`, with full verification of the certificate. A server that
/// asks for a client certificate gets an empty one (APNs does ask; docs/internals/apns.md 1.1).
struct ClientTLS: Sendable {
    private let context: NIOSSLContext
    private let serverName: String?

    init(_ configuration: HTTP2ClientConfiguration) throws(HTTP2ConnectError) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        tls.certificateVerification = .fullVerification
        // How long a peer that does not answer may delay the close of the socket. Callers already have their answers.
        tls.shutdownTimeout = .seconds(1)
        if let certificates = try configuration.trustRoots.certificates() {
            tls.trustRoots = .certificates(certificates)
        }
        do {
            context = try NIOSSLContext(configuration: tls)
        } catch {
            throw HTTP2ConnectError(kind: .tls, message: "TLS can't be set up: \(ConnectProgress.lossText(error))")
        }
        let name = configuration.serverName ?? configuration.host
        // SNI contains only names (RFC 6066 3). Without a name, NIOSSL checks the certificate against the address.
        serverName = (try? SocketAddress(ipAddress: name, port: 0)) == nil ? name : nil
    }

    /// A new handler for one connection.
    func handler() throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: serverName)
    }
}

extension HTTP2ClientConfiguration.TrustRoots {
    /// Reads the file, so that an unusable file is found before a connection is needed.
    ///
    /// - Throws: `HTTP2ConnectError` if the file contains no certificate.
    package func check() throws(HTTP2ConnectError) { _ = try certificates() }

    /// - Returns: `nil` for the system's authorities.
    fileprivate func certificates() throws(HTTP2ConnectError) -> [NIOSSLCertificate]? {
        guard case .file(let path) = self else { return nil }
        guard let certificates = try? NIOSSLCertificate.fromPEMFile(path), !certificates.isEmpty else {
            throw HTTP2ConnectError(
                kind: .tls,
                message:
                    "the CA file \(path) can't be used: check that it exists, is readable and contains PEM certificates"
            )
        }
        return certificates
    }
}
