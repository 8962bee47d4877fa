internal import Crypto
internal import FoundationEssentials

/// The private key of one `AuthKey_<KEYID>.p8` file.
struct SigningKey: Sendable {
    private let key: P256.Signing.PrivateKey
    /// SHA-256 of the public key.
    let fingerprint: [UInt8]

    /// Why a key file cannot be used; never quotes its content.
    enum Fault: Error, CustomStringConvertible {
        case missing(path: String)
        case unreadable(path: String, why: String)

        var description: String {
            switch self {
            case .missing(let path): "there is no key file \(path)"
            case .unreadable(let path, let why):
                "the key file \(path) cannot be used: \(why). Download the .p8 again from Apple's developer portal "
                    + "(Certificates, Identifiers & Profiles > Keys) or fix its permissions"
            }
        }
    }

    /// Reads a PKCS#8 PEM file with an EC P-256 key, as Apple hands them out.
    init(path: String) throws(Fault) {
        guard FileManager.default.fileExists(atPath: path) else { throw .missing(path: path) }
        guard let data = FileManager.default.contents(atPath: path), let pem = String(data: data, encoding: .utf8)
        else { throw .unreadable(path: path, why: "it cannot be read as text") }
        do {
            let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
            self.key = key
            fingerprint = Array(SHA256.hash(data: key.publicKey.rawRepresentation))
        } catch {
            throw .unreadable(path: path, why: "it holds no EC P-256 private key in PEM form")
        }
    }

    /// The 64 bytes R‖S that JWS calls ES256.
    func signature(of message: [UInt8]) throws -> [UInt8] {
        Array(try key.signature(for: Data(message)).rawRepresentation)
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// Nothing of the key.
    var description: String { "signing key" }
    var debugDescription: String { description }
}
