internal import COpenSSL

/// Why TLS failed.
package enum TLSError: Error, Hashable, CustomStringConvertible {
    /// The peer's certificate was refused, for OpenSSL's reason, such as "certificate has expired".
    case untrusted(String)
    /// The peer's certificate is for other names.
    case wrongName
    /// The peer knows none of the offered protocols (ALPN).
    case noProtocol
    /// The peer does not speak TLS.
    case notTLS
    /// The peer speaks no version that is accepted here.
    case oldVersion
    /// The TCP connection ended without TLS's close_notify, so bytes may be missing.
    case cut
    /// OpenSSL's name of any other error.
    case other(String)

    package var description: String {
        switch self {
        case .untrusted(let reason): reason
        case .wrongName: "the certificate is for other names"
        case .noProtocol: "no common protocol"
        case .notTLS: "the peer does not speak TLS"
        case .oldVersion: "no common version of TLS"
        case .cut: "the connection was cut"
        case .other(let name): "TLS error: \(name)"
        }
    }

    /// Reads the last error of the calling thread's queue: the one that is nearest to the call.
    ///
    /// - Parameter ssl: the connection whose call failed; `nil`: the call had no connection.
    init(_ ssl: OpaquePointer?) {
        let code = ERR_peek_last_error()
        defer { ERR_clear_error() }
        let name = ERR_reason_error_string(code).map { String(cString: $0) } ?? "unknown"
        self =
            switch ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0 {
            case SSL_R_CERTIFICATE_VERIFY_FAILED:
                switch Int32(truncatingIfNeeded: SSL_get_verify_result(ssl)) {
                case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongName
                case let result: .untrusted(String(cString: X509_verify_cert_error_string(Int(result))))
                }
            case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, SSL_R_NO_APPLICATION_PROTOCOL: .noProtocol
            case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST: .notTLS
            case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_UNSUPPORTED_PROTOCOL: .oldVersion
            default: .other(name)
            }
    }
}
