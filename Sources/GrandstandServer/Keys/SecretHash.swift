internal import Cryptography

/// The SHA-256 of a secret of 256 random bits. A comparison may stop at the first byte that differs: who learns bytes of
/// the hash from its time still cannot guess the secret.
typealias SecretHash = [UInt8]

extension SecretHash {
    init(of secret: some StringProtocol) { self = SHA256.hash(Array(secret.utf8)) }
}
