internal import Crypto
internal import Foundation
internal import SwiftASN1
internal import X509

@testable import HTTP2

/// A certificate authority for this test run, and the certificates it signs.
struct TestAuthority: Sendable {
    /// The authority that most tests trust.
    static let shared = TestAuthority()

    /// A server's certificate and key.
    struct Identity: Sendable {
        var chainPEM: [UInt8]
        var keyPEM: [UInt8]

        var chain: HTTP2PEM { .bytes(chainPEM) }
        var key: HTTP2PEM { .bytes(keyPEM) }
    }

    /// The PEM file that a client trusts.
    let file: String
    /// A certificate for `localhost` and 127.0.0.1.
    let local: Identity
    /// A certificate for `elsewhere.example` only.
    let elsewhere: Identity
    /// Like `local`, but expired.
    let expired: Identity

    init() {
        let key = P256.Signing.PrivateKey()
        let name = Self.name("test authority")
        do {
            let root = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
                notValidBefore: .now - 3_600, notValidAfter: .now + 86_400, issuer: name, subject: name,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                },
                issuerPrivateKey: .init(key))
            let url = FileManager.default.temporaryDirectory.appending(path: "http2-tests-\(UUID().uuidString).pem")
            try Data(root.serializeAsPEM().pemString.utf8).write(to: url)
            file = url.path
            let here = [GeneralName.dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))]
            local = try Self.identity(here, issuer: name, key: key)
            expired = try Self.identity(here, issuer: name, key: key, until: .now - 60)
            elsewhere = try Self.identity([.dnsName("elsewhere.example")], issuer: name, key: key)
        } catch {
            preconditionFailure("no certificates for the tests: \(error)")
        }
    }

    private static func name(_ text: String) -> DistinguishedName {
        // A fixed short text is always a valid name.
        (try? DistinguishedName { CommonName(text) }) ?? DistinguishedName()
    }

    private static func identity(
        _ names: [GeneralName], issuer: DistinguishedName, key: P256.Signing.PrivateKey,
        until: Date = .now + 86_400
    ) throws -> Identity {
        let own = P256.Signing.PrivateKey()
        let leaf = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(own.publicKey),
            notValidBefore: .now - 3_600, notValidAfter: until, issuer: issuer,
            subject: Self.name("test server"),
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions { SubjectAlternativeNames(names) },
            issuerPrivateKey: .init(key))
        return Identity(
            chainPEM: Array(try leaf.serializeAsPEM().pemString.utf8), keyPEM: Array(own.pemRepresentation.utf8))
    }
}
