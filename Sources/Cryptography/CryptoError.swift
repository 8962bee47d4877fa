internal import COpenSSL
internal import FoundationEssentials

/// Why libcrypto refused an input. It contains no part of a key.
package struct CryptoError: Error, CustomStringConvertible {
    package let description: String

    /// - Parameter action: what failed, such as "read the key". libcrypto's own reason is added.
    init(_ action: String) {
        let reason = ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) }
        description = "libcrypto could not \(action): \(reason ?? "no reason given")"
        ERR_clear_error()
    }
}

/// The results of libcrypto's functions, as Swift's errors.
extension Int32 {
    func orThrow(_ action: String) throws(CryptoError) { if self <= 0 { throw CryptoError(action) } }
}

extension Optional {
    func orThrow(_ action: String) throws(CryptoError) -> Wrapped {
        guard let self else { throw CryptoError(action) }
        return self
    }
}

/// The bytes of a file, such as a certificate.
package func readFile(_ path: String) throws(CryptoError) -> [UInt8] {
    try FileManager.default.contents(atPath: path).map(Array.init).orThrow("read \(path)")
}

enum PEM {
    /// Runs `body` with a reader of the text.
    static func read<Value>(
        _ text: [UInt8], _ body: (_ reader: OpaquePointer) throws(CryptoError) -> Value
    ) throws(CryptoError) -> Value {
        ERR_clear_error()
        let reader = try BIO_new(BIO_s_mem()).orThrow("read PEM")
        defer { BIO_free(reader) }
        guard text.isEmpty || BIO_write(reader, text, Int32(clamping: text.count)) == text.count else {
            throw CryptoError("read PEM")
        }
        return try body(reader)
    }

    /// The text that `body` writes.
    static func text(_ body: (_ writer: OpaquePointer) -> Int32) throws(CryptoError) -> String {
        let writer = try BIO_new(BIO_s_mem()).orThrow("write PEM")
        defer { BIO_free(writer) }
        try body(writer).orThrow("write PEM")
        let count = BIO_ctrl_pending(writer)
        return String(unsafeUninitializedCapacity: count) { Int(BIO_read(writer, $0.baseAddress, Int32(count))) }
    }
}
