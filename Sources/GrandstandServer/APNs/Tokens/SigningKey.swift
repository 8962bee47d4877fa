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
                "the key file \(path) cannot be used: \(why). It needs an EC P-256 private key in PEM form, as in the "
                    + ".p8 from Apple's developer portal"
            }
        }
    }

    /// Reads a PEM file with an EC P-256 key, the format of Apple's keys, in any form of `KeyFileText`.
    init(path: String) throws(Fault) {
        guard FileManager.default.fileExists(atPath: path) else { throw .missing(path: path) }
        guard let pem = FileManager.default.contents(atPath: path) else {
            throw .unreadable(path: path, why: "it is a folder, or its permissions forbid reading it")
        }
        do {
            let block = try KeyFileText(Array(pem)).pem
            guard (try? PrivateKey(pem: block)) != nil else {
                throw KeyFileText.Shape("its block has \(block.count) bytes, and its base64 is broken or without a key")
            }
            key = try PrivateKey.p256(pem: block)
            fingerprint = SHA256.hash(try key.publicPoint)
        } catch {
            throw .unreadable(path: path, why: (error as? KeyFileText.Shape)?.words ?? "its key is of another kind")
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
