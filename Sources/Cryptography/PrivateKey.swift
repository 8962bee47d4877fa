internal import COpenSSL

/// A private key. `p256` and the signatures are for EC P-256, the kind that Apple uses; TLS takes any kind.
package final class PrivateKey: @unchecked Sendable {
    /// Never changed, so threads may share it.
    package let pointer: OpaquePointer

    private init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// A new EC P-256 key.
    package static func p256() throws(CryptoError) -> PrivateKey {
        PrivateKey(owning: try copenssl_new_p256_key().orThrow("make a key"))
    }

    /// Reads an EC P-256 key.
    package static func p256(pem: [UInt8]) throws(CryptoError) -> PrivateKey {
        let key = try PrivateKey(pem: pem)
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(key.pointer, &name, name.count, nil) == 1, name.starts(with: p256Name) else {
            throw CryptoError("use the key: it is not an EC P-256 key")
        }
        return key
    }

    private static let p256Name = Array("prime256v1".utf8CString)

    /// Reads a key without a passphrase: PKCS#8, or the older forms for one kind.
    package convenience init(pem: [UInt8]) throws(CryptoError) {
        let pointer = try PEM.read(pem) { reader throws(CryptoError) in
            try PEM_read_bio_PrivateKey(reader, nil, copenssl_no_passphrase, nil).orThrow("read the key")
        }
        self.init(owning: pointer)
    }

    /// The key as PKCS#8.
    package var pem: String {
        get throws(CryptoError) {
            try PEM.text { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
        }
    }

    /// The public key as an uncompressed point: 4, then X and Y of 32 bytes each.
    package var publicPoint: [UInt8] {
        get throws(CryptoError) {
            var point = [UInt8](repeating: 0, count: 65)
            try EVP_PKEY_get_octet_string_param(pointer, "pub", &point, point.count, nil).orThrow("read the public key")
            return point
        }
    }

    /// Checks an ES256 signature of JWS with this key's public half.
    package func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard signature.count == 64, let parsed = ECDSA_SIG_new() else { return false }
        defer { ECDSA_SIG_free(parsed) }
        guard let r = BN_bin2bn(signature, 32, nil), let s = BN_bin2bn(Array(signature[32...]), 32, nil),
            ECDSA_SIG_set0(parsed, r, s) == 1
        else { return false }
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(parsed, &der)
        defer { CRYPTO_free(der, "", 0) }
        guard count > 0, let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1
            && EVP_DigestVerify(context, der, Int(count), message, message.count) == 1
    }
}
