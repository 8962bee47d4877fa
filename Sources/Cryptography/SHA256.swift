internal import COpenSSL

/// SHA-256 and HMAC-SHA-256.
package enum SHA256 {
    package static let byteCount = 32

    /// Fetched once, because a look-up by name takes longer than a short hash.
    private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

    package static func hash(_ message: [UInt8]) -> [UInt8] {
        digest { EVP_Digest(message, message.count, $0, nil, algorithm, nil) == 1 }
    }

    /// HMAC-SHA-256 (RFC 2104).
    package static func hmac(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        digest { HMAC(algorithm, key, Int32(key.count), message, message.count, $0, nil) != nil }
    }

    private static func digest(_ body: (UnsafeMutablePointer<UInt8>?) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            precondition(body(buffer.baseAddress), "libcrypto cannot compute SHA-256")
            count = byteCount
        }
    }
}

/// Compares in a time that does not depend on the content.
package func isEqualInConstantTime(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}

/// Bytes that nobody can predict.
package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
        precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "libcrypto has no random numbers")
        size = count
    }
}
