internal import Cryptography

/// TLS for a client: version 1.2 or newer, only ALPN `h2`, with full verification of the certificate. A server that
/// asks for a client certificate gets an empty one (APNs does ask; docs/internals/apns.md 1.1).
struct ClientTLS: Sendable {
    private let context: TLSContext
    private let peer: String

    init(_ configuration: HTTP2ClientConfiguration) throws(HTTP2ConnectError) {
        let roots = try configuration.trustRoots.certificates().map(TLSContext.Roots.only) ?? .system
        do {
            context = try .client(roots, protocols: ["h2"])
        } catch {
            throw HTTP2ConnectError(kind: .tls, message: "TLS can't be set up: \(error)")
        }
        peer = configuration.serverName ?? configuration.host
    }

    /// A new handler for one connection.
    func handler() throws -> TLSHandler { try TLSHandler(context, peer: peer) }
}

extension HTTP2ClientConfiguration.TrustRoots {
    /// Reads the file, so that an unusable file is found before a connection is needed.
    ///
    /// - Throws: `HTTP2ConnectError` if the file contains no certificate.
    package func check() throws(HTTP2ConnectError) { _ = try certificates() }

    /// - Returns: `nil` for the system's authorities.
    fileprivate func certificates() throws(HTTP2ConnectError) -> [Certificate]? {
        guard case .file(let path) = self else { return nil }
        do {
            return try Certificate.all(pem: readFile(path))
        } catch {
            throw HTTP2ConnectError(
                kind: .tls,
                message:
                    "the CA file \(path) can't be used: check that it exists, is readable and contains PEM certificates"
            )
        }
    }
}
