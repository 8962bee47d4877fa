internal import COpenSSL
package import Cryptography

/// The certificates and rules of TLS connections: version 1.2 or later, without renegotiation. Connections keep the
/// context that they began with, so certificates are replaced with a new context.
package final class TLSContext: @unchecked Sendable {
    /// Who may sign a server's certificate.
    package enum Roots: Sendable {
        /// The authorities of the system.
        case system
        case only([Certificate])
        /// The certificate is not checked.
        case unchecked
    }

    /// OpenSSL locks it where threads share it.
    let pointer: OpaquePointer
    let isServer: Bool
    /// The protocols for ALPN, each with its length before it; before all, the length of the whole.
    private let protocols: UnsafeMutableBufferPointer<UInt8>

    /// A client's context.
    package static func client(_ roots: Roots, protocols: [String] = []) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isServer: false, protocols)
        let pointer = context.pointer
        switch roots {
        case .system: try check(SSL_CTX_set_default_verify_paths(pointer))
        case .only(let certificates):
            let store = SSL_CTX_get_cert_store(pointer)
            for certificate in certificates { try check(X509_STORE_add_cert(store, certificate.pointer)) }
        case .unchecked: break
        }
        if case .unchecked = roots {} else { SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil) }
        return context
    }

    /// A server's context.
    ///
    /// - Parameters:
    ///   - chain: the server's certificate first, then intermediates.
    ///   - asksForCertificate: clients are asked for a certificate. A client without one is served; one with a
    ///     certificate is refused, because no authority is trusted.
    /// - Throws: if the key does not belong to the first certificate.
    package static func server(
        chain: [Certificate], key: PrivateKey, protocols: [String] = [], asksForCertificate: Bool = false
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isServer: true, protocols)
        let pointer = context.pointer
        try check(SSL_CTX_use_certificate(pointer, chain.first?.pointer))
        for certificate in chain.dropFirst() {
            try check(copenssl_add_chain_certificate(pointer, certificate.pointer))
        }
        try check(SSL_CTX_use_PrivateKey(pointer, key.pointer))
        try check(SSL_CTX_check_private_key(pointer))
        // Clients resume a session only in a context with the same ID. The tickets' keys differ anyway.
        try check(SSL_CTX_set_session_id_context(pointer, "grandstand", 10))
        if asksForCertificate { SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil) }
        guard !protocols.isEmpty else { return context }
        // A client with none of the protocols gets a connection without a protocol, and the caller ends it.
        SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, chosen, length, offered, count, list in
                let list = list?.assumingMemoryBound(to: UInt8.self)
                var found: UnsafeMutablePointer<UInt8>?
                let result = SSL_select_next_proto(
                    &found, length, list.map { $0 + 1 }, UInt32(list?.pointee ?? 0), offered, count)
                chosen?.pointee = UnsafePointer(found)
                return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
            }, context.protocols.baseAddress)
        return context
    }

    private init(isServer: Bool, _ protocols: [String]) throws(TLSError) {
        ERR_clear_error()
        guard let pointer = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
            throw TLSError(nil)
        }
        self.pointer = pointer
        self.isServer = isServer
        let list = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        self.protocols = .allocate(capacity: 1 + list.count)
        _ = self.protocols.initialize(from: [UInt8(list.count)] + list)
        try Self.check(copenssl_set_rules(pointer))
        if !isServer, !list.isEmpty, SSL_CTX_set_alpn_protos(pointer, list, UInt32(list.count)) != 0 {
            throw TLSError(nil)
        }
    }

    deinit {
        SSL_CTX_free(pointer)
        protocols.deallocate()
    }

    private static func check(_ result: Int32) throws(TLSError) { if result != 1 { throw TLSError(nil) } }

    /// The state of a new connection.
    ///
    /// - Parameter peer: the name or address that the server's certificate must have; a name is also sent as SNI.
    func makeSSL(for peer: String?) throws(TLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let ssl = SSL_new(pointer) else { throw TLSError(nil) }
        if isServer { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
        if let peer {
            let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), peer) == 1
            SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            guard isAddress || SSL_set1_host(ssl, peer) == 1 && copenssl_set_server_name(ssl, peer) == 1 else {
                SSL_free(ssl)
                throw TLSError(nil)
            }
        }
        return ssl
    }
}

/// Why TLS failed.
package enum TLSError: Error, Hashable, CustomStringConvertible {
    /// The peer's certificate was refused, for OpenSSL's reason, such as "certificate has expired".
    case untrusted(String)
    /// The peer's certificate is for other names.
    case wrongName
    /// The peer knows none of the offered protocols (ALPN).
    case noALPNMatch
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
        case .noALPNMatch: "no common protocol"
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
            case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, SSL_R_NO_APPLICATION_PROTOCOL: .noALPNMatch
            case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST: .notTLS
            case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_UNSUPPORTED_PROTOCOL: .oldVersion
            default: .other(name)
            }
    }
}
