internal import NIOCore
internal import NIOSSL

/// TLS for a server: version 1.2 or newer, only ALPN `h2`.
struct ServerTLS: Sendable {
    private let context: NIOSSLContext
    private let otherContext: NIOSSLContext?

    init(_ configuration: HTTP2ServerConfiguration) throws(HTTP2ServerError) {
        let asks = configuration.asksForClientCertificate
        context = try Self.context(configuration.certificateChain, configuration.privateKey, asksClient: asks)
        otherContext =
            if let other = configuration.otherIdentity {
                try Self.context(other.certificateChain, other.privateKey, asksClient: asks)
            } else {
                nil
            }
    }

    private static func context(
        _ certificateChain: HTTP2PEM, _ privateKey: HTTP2PEM, asksClient: Bool
    ) throws(HTTP2ServerError) -> NIOSSLContext {
        let chain = try certificates(certificateChain)
        let key = try key(privateKey)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        tls.shutdownTimeout = .seconds(1)
        if asksClient {
            tls.certificateVerification = .optionalVerification
            tls.trustRoots = .certificates([])
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw HTTP2ServerError(
                "the certificate and the private key don't work together (\(ConnectProgress.lossText(error))): check "
                    + "that the key belongs to the first certificate of the chain")
        }
    }

    /// A new handler for one connection.
    func handler(_ admission: HTTP2Admission) -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: admission == .otherIdentity ? otherContext ?? context : context)
    }

    private static func certificates(_ pem: HTTP2PEM) throws(HTTP2ServerError) -> [NIOSSLCertificate] {
        do {
            let chain =
                switch pem {
                case .file(let path): try NIOSSLCertificate.fromPEMFile(path)
                case .bytes(let bytes): try NIOSSLCertificate.fromPEMBytes(bytes)
                }
            if !chain.isEmpty { return chain }
        } catch {
            // The error below has a better message.
        }
        throw HTTP2ServerError(
            "the certificate chain \(location(pem)) can't be used: check that it exists, is readable and contains PEM "
                + "certificates")
    }

    private static func key(_ pem: HTTP2PEM) throws(HTTP2ServerError) -> NIOSSLPrivateKey {
        do {
            return switch pem {
            case .file(let path): try NIOSSLPrivateKey(file: path, format: .pem)
            case .bytes(let bytes): try NIOSSLPrivateKey(bytes: bytes, format: .pem)
            }
        } catch {
            throw HTTP2ServerError(
                "the private key \(location(pem)) can't be used: check that it exists, is readable and is a PEM key "
                    + "without a passphrase")
        }
    }

    private static func location(_ pem: HTTP2PEM) -> String {
        switch pem {
        case .file(let path): path
        case .bytes: "given in memory"
        }
    }
}
