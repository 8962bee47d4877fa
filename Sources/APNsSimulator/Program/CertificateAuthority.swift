internal import Cryptography
internal import FoundationEssentials

/// The authority that signs the simulator's certificate. It is stored in the folder, so that a client that trusts
/// `ca.pem` still trusts the simulator after a restart.
struct CertificateAuthority {
    static let certificateFile = "ca.pem"
    static let keyFile = "ca.key"

    private let certificate: Certificate
    private let key: PrivateKey

    private static let name = "Grandstand APNs simulator CA"
    private static let lifetime = 3_650 * Self.day
    /// Apple's platforms refuse server certificates of more than 398 days.
    private static let leafLifetime = 397 * Self.day
    private static let day = 86_400.0

    /// Reads the authority from `folder`, or creates it there.
    ///
    /// - Throws: if `ca.key` is missing but `ca.pem` is there, or a file is broken or expired. Nothing is overwritten,
    ///   because `ca.pem` might belong to somebody else.
    init(in folder: Folder, now: Date) throws {
        let stored = try folder.key(
            Self.keyFile, advice: "remove it and \(Self.certificateFile), and new ones are made")
        guard let pem = try folder.read(Self.certificateFile) else {
            key = try stored ?? PrivateKey.p256()
            certificate = try Certificate(
                Self.name, key: key, from: now.addingTimeInterval(-Self.day),
                until: now.addingTimeInterval(Self.lifetime),
                extensions: [
                    "basicConstraints": "critical,CA:TRUE,pathlen:0", "keyUsage": "critical,keyCertSign,cRLSign",
                    "subjectKeyIdentifier": "hash",
                ])
            try folder.write(key.pem, to: Self.keyFile, access: .owner)
            try folder.write(certificate.pem, to: Self.certificateFile, access: .everyone)
            return
        }
        guard let stored else {
            throw SimulatorError(
                "\(folder.path(Self.certificateFile)) is there without its \(Self.keyFile): "
                    + "move it away, or name another folder with --dir.")
        }
        guard let parsed = try? Certificate.all(pem: Array(pem.utf8)).first, parsed.belongs(to: stored),
            parsed.notAfter > now
        else {
            throw SimulatorError(
                "\(folder.path(Self.certificateFile)) is broken, out of date, or not the certificate of "
                    + "\(Self.keyFile): remove both, and new ones are created.")
        }
        (certificate, key) = (parsed, stored)
    }

    /// A server certificate for `key`, signed by this authority. A new one is made at each start; it lasts 397 days.
    func issue(for key: PrivateKey, names: [String], now: Date) throws -> String {
        try Certificate(
            "localhost", key: key, issuer: (certificate, self.key), from: now.addingTimeInterval(-Self.day),
            until: min(now.addingTimeInterval(Self.leafLifetime), certificate.notAfter),
            extensions: [
                "basicConstraints": "critical,CA:FALSE", "keyUsage": "critical,digitalSignature",
                "extendedKeyUsage": "serverAuth",
                "subjectAltName": names.joined(separator: ","),
                "subjectKeyIdentifier": "hash", "authorityKeyIdentifier": "keyid",
            ]
        ).pem
    }
}
