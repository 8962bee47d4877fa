internal import Crypto
internal import Foundation
internal import GrandstandTestKit
internal import SwiftASN1
internal import X509

/// A self-signed certificate, and the file that a client trusts.
struct TestIdentity {
    let receiver: Receiver.Identity
    let file: String

    /// - Parameter names: the DNS names in the certificate.
    init(_ names: [String]) throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("webhook tests") }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: .now - 3_600,
            notValidAfter: .now + 86_400, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames(names.map { .dnsName($0) })
            },
            issuerPrivateKey: .init(key))
        let pem = try certificate.serializeAsPEM().pemString
        let url = FileManager.default.temporaryDirectory.appending(path: "webhook-tests-\(UUID().uuidString).pem")
        try Data(pem.utf8).write(to: url)
        file = url.path
        receiver = Receiver.Identity(certificate: Array(pem.utf8), key: Array(key.pemRepresentation.utf8))
    }
}
