internal import Cryptography
internal import Foundation

@testable import HTTP2

/// A certificate authority for this test run, and the certificates it signs.
struct TestAuthority: Sendable {
    /// The authority that most tests trust.
    static let shared = TestAuthority()

    /// A server's certificate and key.
    struct Identity: Sendable {
        var certificate: Certificate
        var privateKey: PrivateKey

        /// TLS of a server with this certificate.
        func server(protocols: [String] = ["h2"], asksForCertificate: Bool = false) throws -> TLSContext {
            try .server(
                chain: [certificate], key: privateKey, protocols: protocols, asksForCertificate: asksForCertificate)
        }
    }

    /// The PEM file that a client trusts.
    let file: String
    let certificate: Certificate
    /// A certificate for `localhost` and 127.0.0.1.
    let local: Identity
    /// A certificate for `elsewhere.example` only.
    let elsewhere: Identity
    /// Like `local`, but expired.
    let expired: Identity

    init() {
        do {
            let key = try PrivateKey.p256()
            let root = try Certificate(
                "test authority", key: key, from: .now - 3_600, until: .now + 86_400,
                extensions: ["basicConstraints": "critical,CA:TRUE"])
            let url = FileManager.default.temporaryDirectory.appending(path: "http2-tests-\(UUID().uuidString).pem")
            try Data(root.pem.utf8).write(to: url)
            file = url.path
            certificate = root
            let here = "DNS:localhost,IP:127.0.0.1"
            local = try Self.identity(here, issuer: (root, key))
            expired = try Self.identity(here, issuer: (root, key), until: .now - 60)
            elsewhere = try Self.identity("DNS:elsewhere.example", issuer: (root, key))
        } catch {
            preconditionFailure("no certificates for the tests: \(error)")
        }
    }

    private static func identity(
        _ names: String, issuer: (certificate: Certificate, key: PrivateKey), until: Date = .now + 86_400
    ) throws -> Identity {
        let key = try PrivateKey.p256()
        let leaf = try Certificate(
            "test server", key: key, issuer: issuer, from: .now - 3_600, until: until,
            extensions: ["subjectAltName": names])
        return Identity(certificate: leaf, privateKey: key)
    }
}
