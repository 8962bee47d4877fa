internal import COpenSSL
package import FoundationEssentials

/// An X.509 certificate.
package final class Certificate: @unchecked Sendable {
    /// Never changed, so threads may share it.
    package let pointer: OpaquePointer

    private init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_free(pointer) }

    /// The certificates of a PEM text, at least one, in their order.
    package static func all(pem: [UInt8]) throws(CryptoError) -> [Certificate] {
        let certificates = try PEM.read(pem) { reader throws(CryptoError) in
            var certificates: [Certificate] = []
            while let pointer = PEM_read_bio_X509(reader, nil, copenssl_no_passphrase, nil) {
                certificates.append(Certificate(owning: pointer))
            }
            // The end of the text looks like a missing first line. Anything else is a broken certificate.
            guard !certificates.isEmpty, ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
                throw CryptoError("read a certificate")
            }
            return certificates
        }
        ERR_clear_error()
        return certificates
    }

    /// Makes a certificate with a random serial number.
    ///
    /// - Parameters:
    ///   - issuer: signs it; `nil`: it is signed by its own key.
    ///   - extensions: by name and value as in OpenSSL's configuration, such as `subjectAltName` and `DNS:localhost`.
    package convenience init(
        _ commonName: String, key: PrivateKey, issuer: (certificate: Certificate, key: PrivateKey)? = nil,
        from: Date, until: Date, extensions: KeyValuePairs<String, String> = [:]
    ) throws(CryptoError) {
        let action = "make a certificate"
        self.init(owning: try X509_new().orThrow(action))
        // 126 random bits: positive, and within the 20 octets that RFC 5280 4.1.2.2 allows.
        let serial = [UInt8.random(in: 0x40...0x7F)] + randomBytes(15)
        let number = BN_bin2bn(serial, Int32(serial.count), nil)
        defer { BN_free(number) }
        let subject = X509_get_subject_name(pointer)
        guard X509_set_version(pointer, 2) == 1, BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil,
            X509_set_pubkey(pointer, key.pointer) == 1,
            X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, commonName, -1, -1, 0) == 1,
            X509_set_issuer_name(pointer, issuer.map { X509_get_subject_name($0.certificate.pointer) } ?? subject) == 1,
            ASN1_TIME_set(X509_getm_notBefore(pointer), Int(from.timeIntervalSince1970)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(pointer), Int(until.timeIntervalSince1970)) != nil
        else { throw CryptoError(action) }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer?.certificate.pointer ?? pointer, pointer, nil, nil, 0)
        for (name, value) in extensions {
            let made = try X509V3_EXT_conf(nil, &context, name, value).orThrow(action)
            defer { X509_EXTENSION_free(made) }
            try X509_add_ext(pointer, made, -1).orThrow(action)
        }
        try X509_sign(pointer, (issuer?.key ?? key).pointer, EVP_sha256()).orThrow(action)
    }

    package var pem: String {
        get throws(CryptoError) { try PEM.text { PEM_write_bio_X509($0, pointer) } }
    }

    package func belongs(to key: PrivateKey) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_private_key(pointer, key.pointer) == 1
    }

    package var notBefore: Date { Self.date(X509_get0_notBefore(pointer)) }
    package var notAfter: Date { Self.date(X509_get0_notAfter(pointer)) }

    private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date {
        let epoch = ASN1_TIME_set(nil, 0)
        defer { ASN1_STRING_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return .distantPast }
        return Date(timeIntervalSince1970: Double(days) * 86_400 + Double(seconds))
    }

    /// The DNS names and addresses that the certificate is for. Clients check only these.
    package var names: [String] {
        guard let stack = OpaquePointer(X509_get_ext_d2i(pointer, NID_subject_alt_name, nil, nil)) else { return [] }
        defer { GENERAL_NAMES_free(stack) }
        return (0..<OPENSSL_sk_num(stack)).compactMap { index in
            guard let name = OPENSSL_sk_value(stack, index)?.assumingMemoryBound(to: GENERAL_NAME.self).pointee,
                name.type == GEN_DNS || name.type == GEN_IPADD
            else { return nil }
            let value = name.type == GEN_DNS ? name.d.dNSName : name.d.iPAddress
            let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value)))
            return name.type == GEN_DNS ? String(decoding: bytes, as: UTF8.self) : Self.address(Array(bytes))
        }
    }

    private static func address(_ bytes: [UInt8]) -> String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: bytes.count - 1, by: 2)
            .map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
    }
}
