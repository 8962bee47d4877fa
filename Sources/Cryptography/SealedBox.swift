internal import COpenSSL

/// AES-256-GCM: encrypted bytes that nobody can change unnoticed.
package enum SealedBox {
    private static let nonceCount = 12
    private static let tagCount = 16

    /// Encrypts under a key of 32 bytes. `context` must be the same when the box is opened; it is not in the box.
    ///
    /// - Returns: a random nonce of 12 bytes, the encrypted bytes, and a tag of 16 bytes.
    package static func seal(_ plain: [UInt8], key: [UInt8], context: [UInt8]) throws(CryptoError) -> [UInt8] {
        let nonce = randomBytes(nonceCount)
        return try crypt(isSealing: true, plain, key: key, nonce: nonce, context: context) {
            cipher, bytes throws(CryptoError) in
            var tag = [UInt8](repeating: 0, count: tagCount)
            try EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), &tag).orThrow("encrypt")
            return nonce + bytes + tag
        }
    }

    /// - Throws: if the box was sealed with another key or context, or was changed.
    package static func open(_ box: [UInt8], key: [UInt8], context: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard box.count >= nonceCount + tagCount else { throw CryptoError("decrypt: too few bytes") }
        var tag = Array(box.suffix(tagCount))
        let nonce = Array(box.prefix(nonceCount))
        let bytes = Array(box.dropFirst(nonceCount).dropLast(tagCount))
        return try crypt(isSealing: false, bytes, key: key, nonce: nonce, context: context) {
            cipher, plain throws(CryptoError) in
            try EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), &tag).orThrow("decrypt")
            var none = [UInt8](repeating: 0, count: tagCount)
            var count: Int32 = 0
            try EVP_CipherFinal_ex(cipher, &none, &count).orThrow("decrypt")
            return plain
        }
    }

    private static func crypt(
        isSealing: Bool, _ input: [UInt8], key: [UInt8], nonce: [UInt8], context: [UInt8],
        finish: (_ cipher: OpaquePointer, _ output: [UInt8]) throws(CryptoError) -> [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        precondition(key.count == 32)
        let action = isSealing ? "encrypt" : "decrypt"
        ERR_clear_error()
        let cipher = try EVP_CIPHER_CTX_new().orThrow(action)
        defer { EVP_CIPHER_CTX_free(cipher) }
        try EVP_CipherInit_ex2(cipher, EVP_aes_256_gcm(), key, nonce, isSealing ? 1 : 0, nil).orThrow(action)
        var count: Int32 = 0
        try EVP_CipherUpdate(cipher, nil, &count, context, Int32(context.count)).orThrow(action)
        var output = [UInt8](repeating: 0, count: input.count)
        if !input.isEmpty {
            try EVP_CipherUpdate(cipher, &output, &count, input, Int32(input.count)).orThrow(action)
        }
        if isSealing {
            var none = [UInt8](repeating: 0, count: tagCount)
            try EVP_CipherFinal_ex(cipher, &none, &count).orThrow(action)
        }
        return try finish(cipher, output)
    }
}
