internal import Cryptography
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
    private let key: [UInt8]

    init(_ request: IdempotentRequest) {
        id = SHA256.hash(Array("\(request.caller.uuidString) \(request.key)".utf8))
        fingerprint = SHA256.hash(request.content)
        key = SHA256.hkdf(Array(request.secret.utf8), salt: id, info: "grandstand idempotency")
    }

    func close(_ answer: KeptAnswer) throws -> [UInt8] {
        let plain = [UInt8(truncatingIfNeeded: answer.status >> 8), UInt8(truncatingIfNeeded: answer.status)]
        return try SealedBox.seal(plain + answer.body, key: key, context: fingerprint)
    }

    /// - Throws: when `sealed` was sealed for another request, or was changed.
    func open(_ sealed: [UInt8]) throws -> KeptAnswer {
        let plain = try SealedBox.open(sealed, key: key, context: fingerprint)
        guard plain.count >= 2 else { throw Problem(.internalError, "A kept answer is empty.") }
        return KeptAnswer(status: Int(plain[0]) << 8 | Int(plain[1]), body: Array(plain[2...]))
    }
}
