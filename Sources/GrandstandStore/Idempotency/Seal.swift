internal import Crypto
internal import FoundationEssentials
internal import Grandstand

/// The ID of a stored answer, and the key that encrypts this answer. The answer to `POST /v1/keys` contains a secret,
/// so the database has all answers encrypted. The encryption key comes from the caller's own secret. The database has
/// only a hash of that secret.
struct Seal {
    /// Identifies the request in the database.
    let id: [UInt8]
    /// The hash of the request's content. A different hash shows that the same idempotency key came with another
    /// request.
    let fingerprint: [UInt8]
    private let key: SymmetricKey

    init(_ request: IdempotentRequest) {
        id = Array(SHA256.hash(data: Data("\(request.caller.uuidString) \(request.key)".utf8)))
        fingerprint = Array(SHA256.hash(data: Data(request.content)))
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Data(request.secret.utf8)), salt: Data(id),
            info: Data("grandstand idempotency".utf8), outputByteCount: 32)
    }

    func close(_ answer: KeptAnswer) throws -> [UInt8] {
        let plain = [UInt8(truncatingIfNeeded: answer.status >> 8), UInt8(truncatingIfNeeded: answer.status)]
        let box = try AES.GCM.seal(Data(plain + answer.body), using: key, authenticating: Data(fingerprint))
        return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    /// - Throws: when `sealed` was sealed for another request, or was changed.
    func open(_ sealed: [UInt8]) throws -> KeptAnswer {
        let box = try AES.GCM.SealedBox(combined: Data(sealed))
        let plain = Array(try AES.GCM.open(box, using: key, authenticating: Data(fingerprint)))
        guard plain.count >= 2 else { throw Problem(.internalError, "A kept answer is empty.") }
        return KeptAnswer(status: Int(plain[0]) << 8 | Int(plain[1]), body: Array(plain[2...]))
    }
}
