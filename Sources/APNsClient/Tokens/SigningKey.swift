internal import Crypto
internal import FoundationEssentials

/// The private key in one file `AuthKey_<KEYID>.p8`.
struct SigningKey: Sendable {
    private let key: P256.Signing.PrivateKey
    /// SHA-256 of the public key.
    let fingerprint: [UInt8]
    /// Encrypts secrets in the database. It is derived from the private key, which is never in the database.
    private let sealingKey: SymmetricKey

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
        guard let data = FileManager.default.contents(atPath: path), let pem = String(data: data, encoding: .utf8)
        else { throw .unreadable(path: path, why: "it cannot be read as text") }
        do {
            let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
            self.key = key
            fingerprint = Array(SHA256.hash(data: key.publicKey.rawRepresentation))
            sealingKey = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: key.rawRepresentation),
                info: Data("grandstand provider token".utf8),
                outputByteCount: 32)
        } catch {
            throw .unreadable(path: path, why: "it has no EC P-256 private key in PEM form")
        }
    }

    /// Encrypts `text`. Decryption needs the same key and the same `context`.
    func seal(_ text: String, context: String) throws -> [UInt8] {
        let box = try AES.GCM.seal(Data(text.utf8), using: sealingKey, authenticating: Data(context.utf8))
        return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    /// Decrypts what `seal` encrypted.
    ///
    /// - Throws: if `seal` used another key or another context, or the data were changed.
    func open(_ sealed: [UInt8], context: String) throws -> String {
        let box = try AES.GCM.SealedBox(combined: Data(sealed))
        return String(
            decoding: try AES.GCM.open(box, using: sealingKey, authenticating: Data(context.utf8)), as: UTF8.self)
    }

    /// The ES256 signature of JWS: the 64 bytes R‖S.
    func signature(of message: [UInt8]) throws -> [UInt8] {
        Array(try key.signature(for: Data(message)).rawRepresentation)
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// The description contains no part of the key.
    var description: String { "signing key" }
    var debugDescription: String { description }
}
