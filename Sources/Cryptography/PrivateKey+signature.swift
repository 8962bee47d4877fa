internal import COpenSSL

extension PrivateKey {
    /// The ES256 signature of JWS: the 64 bytes R‖S. The same key and message always give the same bytes (RFC 6979).
    /// libcrypto has such signatures only from version 3.2 on.
    package func signature(of message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let action = "sign"
        ERR_clear_error()
        // When the context is freed, its numbers are overwritten.
        let context = try BN_CTX_secure_new().orThrow(action)
        defer { BN_CTX_free(context) }
        let group = try EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1).orThrow(action)
        defer { EC_GROUP_free(group) }
        let point = try EC_POINT_new(group).orThrow(action)
        defer { EC_POINT_clear_free(point) }
        let order = try EC_GROUP_get0_order(group).orThrow(action)
        var secret: OpaquePointer?
        try EVP_PKEY_get_bn_param(pointer, "priv", &secret).orThrow(action)
        defer { BN_clear_free(secret) }
        BN_CTX_start(context)
        defer { BN_CTX_end(context) }
        func number() throws(CryptoError) -> OpaquePointer { try BN_CTX_get(context).orThrow(action) }
        func octets(_ number: OpaquePointer?) throws(CryptoError) -> [UInt8] {
            var octets = [UInt8](repeating: 0, count: 32)
            try BN_bn2binpad(number, &octets, 32).orThrow(action)
            return octets
        }
        let (hash, nonce, mask, product, r, s) = (
            try number(), try number(), try number(), try number(), try number(), try number()
        )
        for each in [secret, nonce, mask, product] { BN_set_flags(each, BN_FLG_CONSTTIME) }
        _ = try BN_bin2bn(SHA256.hash(message), 32, hash).orThrow(action)
        try BN_nnmod(hash, hash, order, context).orThrow(action)
        // The inverse of a number is its power with this exponent, and libcrypto has powers in constant time.
        let exponent = try number()
        _ = try BN_copy(exponent, order).orThrow(action)
        try BN_sub_word(exponent, 2).orThrow(action)

        var nonces = Nonces(secret: try octets(secret), hash: try octets(hash))
        while true {
            _ = try BN_bin2bn(nonces.next(), 32, nonce).orThrow(action)
            guard BN_is_zero(nonce) == 0, BN_cmp(nonce, order) < 0 else { continue }
            try EC_POINT_mul(group, point, nonce, nil, nil, context).orThrow(action)
            try EC_POINT_get_affine_coordinates(group, point, r, nil, context).orThrow(action)
            try BN_nnmod(r, r, order, context).orThrow(action)
            // s = (hash + secret · r) / nonce. Both are multiplied by a random number, so that the time of the
            // multiplications says nothing about the secret and the nonce.
            try BN_priv_rand_range(mask, order).orThrow(action)
            try BN_mod_mul(s, mask, secret, order, context).orThrow(action)
            try BN_mod_mul(s, s, r, order, context).orThrow(action)
            try BN_mod_mul(product, mask, hash, order, context).orThrow(action)
            try BN_mod_add(s, s, product, order, context).orThrow(action)
            try BN_mod_mul(product, mask, nonce, order, context).orThrow(action)
            try BN_mod_exp_mont_consttime(product, product, exponent, order, context, nil).orThrow(action)
            try BN_mod_mul(s, s, product, order, context).orThrow(action)
            guard BN_is_zero(r) == 0, BN_is_zero(s) == 0 else { continue }
            let signature = try octets(r) + octets(s)
            // A fault in the arithmetic could reveal the key.
            guard isSignature(signature, of: message) else { throw CryptoError(action) }
            return signature
        }
    }
}

/// The nonces for a key and a message's hash: RFC 6979, section 3.2.
private struct Nonces {
    private var hmacKey = [UInt8](repeating: 0, count: 32)
    private var value = [UInt8](repeating: 1, count: 32)
    private var isUsed = false

    init(secret: [UInt8], hash: [UInt8]) {
        for mark: UInt8 in [0, 1] { advance([mark] + secret + hash) }
    }

    mutating func next() -> [UInt8] {
        if isUsed { advance([0]) }
        isUsed = true
        value = SHA256.hmac(value, key: hmacKey)
        return value
    }

    private mutating func advance(_ data: [UInt8]) {
        hmacKey = SHA256.hmac(value + data, key: hmacKey)
        value = SHA256.hmac(value, key: hmacKey)
    }
}
