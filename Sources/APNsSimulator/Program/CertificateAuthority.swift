internal import Cryptography
internal import FoundationEssentials

/// The authority that signs the simulator's certificate. It is stored in the folder, so that a client that trusts
/// `ca.pem` still trusts the simulator after a restart.
struct CertificateAuthority {
    static let certificateFile = "ca.pem"
    static let keyFile = "ca.key"

    let certificate: Certificate
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
    init(in folder: Folder, now: Date) throws(SimulatorError) {
        switch (try folder.read(Self.certificateFile), try folder.read(Self.keyFile)) {
        case (let certificate?, let key?):
            try self.init(certificate: certificate, key: key, folder: folder, now: now)
        case (nil, let text):
            let key = if let text { try Self.parse(text, folder) } else { try Credentials.newKey() }
            try self.init(making: key, now: now)
            try folder.write(try Credentials.text(of: key), to: Self.keyFile, access: .owner)
            try folder.write(pem, to: Self.certificateFile, access: .everyone)
        case (_?, nil):
            throw SimulatorError(
                "\(folder.path(Self.certificateFile)) is there without its \(Self.keyFile): "
                    + "move it away, or name another folder with --dir.")
        }
    }

    var pem: String {
        get throws(SimulatorError) { try Self.make("written") { () throws(CryptoError) in try certificate.pem } }
    }

    private init(certificate: String, key: String, folder: Folder, now: Date) throws(SimulatorError) {
        self.key = try Self.parse(key, folder)
        guard let parsed = try? Certificate.all(pem: Array(certificate.utf8)).first, parsed.belongs(to: self.key),
            parsed.notAfter > now
        else {
            throw SimulatorError(
                "\(folder.path(Self.certificateFile)) is broken, out of date, or not the certificate of "
                    + "\(Self.keyFile): remove both, and new ones are created.")
        }
        self.certificate = parsed
    }

    private init(making key: PrivateKey, now: Date) throws(SimulatorError) {
        self.key = key
        certificate = try Self.make("made") { () throws(CryptoError) in
            try Certificate(
                Self.name, key: key, from: now.addingTimeInterval(-Self.day),
                until: now.addingTimeInterval(Self.lifetime),
                extensions: [
                    "basicConstraints": "critical,CA:TRUE,pathlen:0", "keyUsage": "critical,keyCertSign,cRLSign",
                    "subjectKeyIdentifier": "hash",
                ])
        }
    }

    /// A server certificate for `key`, signed by this authority. A new one is made at each start; it lasts 397 days.
    func issue(for key: PrivateKey, names: [String], now: Date) throws(SimulatorError) -> String {
        try Self.make("made") { () throws(CryptoError) in
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

    private static func make<Value>(
        _ what: String, _ body: () throws(CryptoError) -> Value
    ) throws(SimulatorError) -> Value {
        do { return try body() } catch { throw SimulatorError("A certificate could not be \(what): \(error).") }
    }

    private static func parse(_ text: String, _ folder: Folder) throws(SimulatorError) -> PrivateKey {
        do {
            return try PrivateKey.p256(pem: Array(text.utf8))
        } catch {
            throw SimulatorError(
                "\(folder.path(keyFile)) is not an EC P-256 private key: remove it and \(certificateFile), "
                    + "and new ones are made.")
        }
    }
}
