internal import Cryptography
internal import FoundationEssentials

/// The private key in one file `AuthKey_<KEYID>.p8`.
struct SigningKey: Sendable {
    private let key: PrivateKey
    /// SHA-256 of the public key.
    let fingerprint: [UInt8]

    /// Why a key file cannot be used. It never contains text from the file.
    enum Fault: Error, CustomStringConvertible {
        case missing(path: String)
        case unreadable(path: String, why: String)

        var description: String {
            switch self {
            case .missing(let path):
                "there is no key file \(path): put the .p8 file from Apple's developer portal there"
            case .unreadable(let path, let why):
                "the key file \(path) cannot be used: \(why). Download the .p8 again from Apple's developer portal "
                    + "(Certificates, Identifiers & Profiles > Keys) or fix its permissions"
            }
        }
    }

    /// Reads a PKCS#8 PEM file with an EC P-256 key, the format of Apple's keys.
    init(path: String) throws(Fault) {
        guard FileManager.default.fileExists(atPath: path) else { throw .missing(path: path) }
        guard let pem = FileManager.default.contents(atPath: path) else {
            throw .unreadable(path: path, why: "it cannot be read")
        }
        do {
            key = try PrivateKey.p256(pem: Array(pem))
            fingerprint = SHA256.hash(try key.publicPoint)
        } catch {
            throw .unreadable(path: path, why: "it has no EC P-256 private key in PEM form")
        }
    }

    /// The ES256 signature of JWS: the 64 bytes R‖S.
    func signature(of message: [UInt8]) throws -> [UInt8] {
        try key.signature(of: message)
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// The description contains no part of the key.
    var description: String { "signing key" }
    var debugDescription: String { description }
}
