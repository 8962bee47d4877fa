internal import Cryptography

/// The SHA-256 of a key's secret. Two hashes are compared in constant time. The time of a lookup in a hash table can
/// reveal at most eight bytes of a hash of 256 random bits.
struct SecretHash: Hashable, Sendable {
    /// The 32 bytes, in big-endian order.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    init(of secret: some StringProtocol) {
        words = SHA256.hash(Array(secret.utf8)).withUnsafeBytes(Self.words)
    }

    /// - Returns: `nil` unless there are 32 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        words = bytes.withUnsafeBytes(Self.words)
    }

    /// The hash as the database stores it.
    var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
    }

    static func == (one: SecretHash, other: SecretHash) -> Bool {
        let (x, y) = (one.words, other.words)
        return (x.0 ^ y.0) | (x.1 ^ y.1) | (x.2 ^ y.2) | (x.3 ^ y.3) == 0
    }

    func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

    private static func words(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
        }
        return (word(0), word(1), word(2), word(3))
    }
}
