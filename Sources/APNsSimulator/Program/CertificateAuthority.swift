internal import Crypto
internal import FoundationEssentials
internal import SwiftASN1
internal import X509

/// The authority that signs the simulator's certificate. It is stored in the folder, so that a client that trusts
/// `ca.pem` still trusts the simulator after a restart.
struct CertificateAuthority {
    static let certificateFile = "ca.pem"
    static let keyFile = "ca.key"

    let certificate: Certificate
    private let key: P256.Signing.PrivateKey

    private static let name = "Grandstand APNs simulator CA"
    private static let lifetime = 3_650 * Self.day
    /// Apple's platforms refuse server certificates of more than 398 days.
    private static let leafLifetime = 397 * Self.day
    private static let day = 86_400.0

    /// Reads the authority from `folder`, or creates it there.
    ///
    /// - Throws: if `ca.key` is missing but `ca.pem` is there, or a file is broken or expired. Nothing is overwritten,
    ///   because `ca.pem` might belong to somebody else.
    init(in folder: Folder, now: Date) throws(SimulatorError) {
        switch (try folder.read(Self.certificateFile), try folder.read(Self.keyFile)) {
        case (let certificate?, let key?):
            try self.init(certificate: certificate, key: key, folder: folder, now: now)
        case (nil, let key):
            let key = try key.map { text throws(SimulatorError) in try Self.parse(text, folder) } ?? .init()
            try self.init(making: key, now: now)
            try folder.write(key.pemRepresentation + "\n", to: Self.keyFile, access: .owner)
            try folder.write(pem, to: Self.certificateFile, access: .everyone)
        case (_?, nil):
            throw SimulatorError(
                "\(folder.path(Self.certificateFile)) is there without its \(Self.keyFile): "
                    + "move it away, or name another folder with --dir.")
        }
    }

    var pem: String {
        get throws(SimulatorError) { try certificate.pemText }
    }

    private init(certificate: String, key: String, folder: Folder, now: Date) throws(SimulatorError) {
        self.key = try Self.parse(key, folder)
        guard let parsed = try? Certificate(pemEncoded: certificate),
            parsed.publicKey == Certificate.PublicKey(self.key.publicKey), parsed.notValidAfter > now
        else {
            throw SimulatorError(
                "\(folder.path(Self.certificateFile)) is broken, out of date, or not the certificate of "
                    + "\(Self.keyFile): remove both, and new ones are created.")
        }
        self.certificate = parsed
    }

    private init(making key: P256.Signing.PrivateKey, now: Date) throws(SimulatorError) {
        self.key = key
        do {
            let subject = try DistinguishedName { CommonName(Self.name) }
            let publicKey = Certificate.PublicKey(key.publicKey)
            certificate = try Certificate(
                version: .v3, serialNumber: Self.serialNumber(), publicKey: publicKey,
                notValidBefore: now.addingTimeInterval(-Self.day), notValidAfter: now.addingTimeInterval(Self.lifetime),
                issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                    SubjectKeyIdentifier(hash: publicKey)
                }, issuerPrivateKey: .init(key))
        } catch {
            throw SimulatorError("The certificate authority could not be created: \(error).")
        }
    }

    /// A server certificate for `key`, signed by this authority. A new one is made at each start; it lasts 397 days.
    func issue(for key: P256.Signing.PrivateKey, names: ServerNames, now: Date) throws(SimulatorError) -> String {
        do {
            let publicKey = Certificate.PublicKey(key.publicKey)
            let authority = SubjectKeyIdentifier(hash: certificate.publicKey)
            return try Certificate(
                version: .v3, serialNumber: Self.serialNumber(), publicKey: publicKey,
                notValidBefore: now.addingTimeInterval(-Self.day),
                notValidAfter: min(now.addingTimeInterval(Self.leafLifetime), certificate.notValidAfter),
                issuer: certificate.subject, subject: try DistinguishedName { CommonName("localhost") },
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames(
                        names.dns.map { .dnsName($0) }
                            + names.addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) })
                    SubjectKeyIdentifier(hash: publicKey)
                    AuthorityKeyIdentifier(keyIdentifier: authority.keyIdentifier)
                }, issuerPrivateKey: .init(self.key)
            ).pemText
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError("The server certificate could not be created: \(error).")
        }
    }

    /// 126 random bits: positive, and within the 20 octets that RFC 5280 4.1.2.2 allows.
    private static func serialNumber() -> Certificate.SerialNumber {
        let bytes = [UInt8.random(in: 0x40...0x7F)] + (1..<16).map { _ in UInt8.random(in: .min ... .max) }
        return Certificate.SerialNumber(bytes: bytes)
    }

    private static func parse(_ text: String, _ folder: Folder) throws(SimulatorError) -> P256.Signing.PrivateKey {
        do {
            return try P256.Signing.PrivateKey(pemRepresentation: text)
        } catch {
            throw SimulatorError(
                "\(folder.path(keyFile)) is not an EC P-256 private key: remove it and \(certificateFile), "
                    + "and new ones are made.")
        }
    }
}

extension Certificate {
    fileprivate var pemText: String {
        get throws(SimulatorError) {
            do {
                return try serializeAsPEM().pemString + "\n"
            } catch {
                throw SimulatorError("A certificate could not be written as PEM: \(error).")
            }
        }
    }
}
