internal import Cryptography
internal import NIOCore

/// TLS for a server: version 1.2 or newer, only ALPN `h2`.
struct ServerTLS: Sendable {
    private let context: TLSContext
    private let otherContext: TLSContext?

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
    ) throws(HTTP2ServerError) -> TLSContext {
        let (chain, key): ([Certificate], PrivateKey)
        do {
            chain = try Certificate.all(pem: try certificateChain.text)
        } catch {
            throw HTTP2ServerError(
                "the certificate chain \(certificateChain) can't be used: check that it exists, is readable and contains "
                    + "PEM certificates")
        }
        do {
            key = try PrivateKey(pem: try privateKey.text)
        } catch {
            throw HTTP2ServerError(
                "the private key \(privateKey) can't be used: check that it exists, is readable and is a PEM key "
                    + "without a passphrase")
        }
        do {
            return try .server(chain: chain, key: key, protocols: ["h2"], asksForCertificate: asksClient)
        } catch {
            throw HTTP2ServerError(
                "the certificate and the private key don't work together (\(error)): check that the key belongs to the "
                    + "first certificate of the chain")
        }
    }

    /// A new handler for one connection.
    func handler(_ admission: HTTP2Admission) throws -> TLSHandler {
        try TLSHandler(admission == .otherIdentity ? otherContext ?? context : context)
    }
}

extension HTTP2PEM: CustomStringConvertible {
    fileprivate var text: [UInt8] {
        get throws(CryptoError) {
            switch self {
            case .file(let path): try readFile(path)
            case .bytes(let bytes): bytes
            }
        }
    }

    /// The path, or that there is none.
    package var description: String {
        switch self {
        case .file(let path): path
        case .bytes: "given in memory"
        }
    }
}
