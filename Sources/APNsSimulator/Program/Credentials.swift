internal import Cryptography
internal import Foundation
internal import FoundationEssentials
internal import HTTP2

/// The names and addresses in the simulator's certificates.
private enum TLSNames {
    /// This machine, a container named `simulator`, and Apple's hosts (docs/internals/apns.md 1.1, 2.1), for clients
    /// that resolve those names to the simulator.
    static let standard =
        ["DNS:localhost", "DNS:simulator", "IP:127.0.0.1", "IP:::1"]
        + ["api", "api-broadcast", "api-manage-broadcast"].flatMap {
            ["DNS:\($0).push.apple.com", "DNS:\($0).sandbox.push.apple.com"]
        }

    /// A valid certificate of another host, for a client that used the wrong port (docs/internals/apns.md 1.1).
    static let wrong = ["DNS:another-host.invalid"]
}

/// The files of the simulator's folder. Missing ones are created.
struct Credentials {
    static let serverKeyFile = "server.key"
    static let serverCertificateFile = "server.pem"
    static let providerKeyFile = "AuthKey_\(SimulatorIdentity.keyID).p8"

    /// PEM: the server's certificate.
    let certificate: String
    /// PEM: a certificate with the same key, for a name that no client asks for.
    let wrongCertificate: String
    /// The private key of both certificates.
    let serverKey: PrivateKey
    /// The keys of every `AuthKey_<KEYID>.p8` in the folder.
    let providerKeys: [ProviderKey]

    init(in folder: Folder, teams: [String: String], scopes: [String: KeyScope] = [:], now: Date) throws {
        let authority = try CertificateAuthority(in: folder, now: now)
        let key = try Self.ensureKey(Self.serverKeyFile, in: folder)
        serverKey = key
        certificate = try authority.issue(for: key, names: TLSNames.standard, now: now)
        wrongCertificate = try authority.issue(for: key, names: TLSNames.wrong, now: now)
        try folder.write(certificate, to: Self.serverCertificateFile, access: .everyone)
        _ = try Self.ensureKey(Self.providerKeyFile, in: folder)
        let names = try folder.names().filter { $0.hasPrefix("AuthKey_") && $0.hasSuffix(".p8") }
        providerKeys = try names.compactMap { name in
            let keyID = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
            return try folder.key(name, advice: "fix or remove it").map {
                ProviderKey(
                    keyID: keyID, teamID: teams[keyID] ?? teams[""] ?? SimulatorIdentity.teamID,
                    scope: scopes[keyID] ?? KeyScope(), key: $0)
            }
        }
    }

    /// TLS of a server with one of the certificates.
    ///
    /// Apple's hosts ask for a client certificate, too (docs/internals/apns.md 1.1); a client must tolerate it.
    func tls(_ certificate: String) throws -> TLSContext {
        try .server(
            chain: Certificate.all(pem: Array(certificate.utf8)), key: serverKey,
            protocols: ["h2"], asksForCertificate: true)
    }

    /// The P-256 key in a file. If there is no file, a new key is written there.
    private static func ensureKey(_ name: String, in folder: Folder) throws -> PrivateKey {
        if let key = try folder.key(name, advice: "remove it, and a new one is created") { return key }
        let key = try PrivateKey.p256()
        try folder.write(key.pem, to: name, access: .owner)
        return key
    }
}

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

/// The simulator's folder with a few small files. Only the owner can read the private ones.
struct Folder {
    enum Access: mode_t {
        case everyone = 0o644
        case owner = 0o600
    }

    let path: String

    /// Creates the folder if it does not exist.
    init(_ path: String) throws {
        self.path = path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw SimulatorError("The folder \(path) cannot be created: name another with --dir, or create it.")
        }
    }

    func path(_ name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    /// The text of a file; `nil` if there is none.
    ///
    /// - Throws: if the file exists but cannot be read as text.
    func read(_ name: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: path(name)) else { return nil }
        guard let data = FileManager.default.contents(atPath: path(name)),
            let text = String(validating: data, as: UTF8.self)
        else { throw SimulatorError("\(path(name)) cannot be read: check its permissions and that it is PEM text.") }
        return text
    }

    /// The EC P-256 key in a file; `nil` if there is none.
    ///
    /// - Parameter advice: what to do if the file has no such key, without a full stop.
    func key(_ name: String, advice: String) throws -> PrivateKey? {
        guard let text = try read(name) else { return nil }
        guard let key = try? PrivateKey.p256(pem: Array(text.utf8)) else {
            throw SimulatorError("\(path(name)) is not an EC P-256 private key in PEM: \(advice).")
        }
        return key
    }

    /// Replaces a file atomically. Another process reads either the old or the new text, and a private file never has
    /// wider access.
    func write(_ text: String, to name: String, access: Access) throws {
        let temporary = path(".\(name).\(getpid()).\(UInt32.random(in: .min ... .max))")
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, access.rawValue)
        guard file >= 0, fchmod(file, access.rawValue) == 0,
            (try? FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: Data(text.utf8))) != nil,
            rename(temporary, path(name)) == 0
        else {
            let cause = String(cString: strerror(errno))
            unlink(temporary)
            throw SimulatorError(
                "\(path(name)) cannot be written (\(cause)): name a folder you may write to with --dir.")
        }
    }

    /// Names of the files in the folder, sorted.
    func names() throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            throw SimulatorError("The folder \(path) cannot be listed: check its permissions.")
        }
    }
}
