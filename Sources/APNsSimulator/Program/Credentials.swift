internal import Cryptography
internal import FoundationEssentials
internal import HTTP2

/// The names and addresses in the simulator's certificates.
private enum ServerNames {
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
    let otherCertificate: String
    /// The private key of both certificates.
    let serverKey: PrivateKey
    /// The keys of every `AuthKey_<KEYID>.p8` in the folder.
    let providerKeys: [ProviderKey]

    init(in folder: Folder, teams: [String: String], scopes: [String: KeyScope] = [:], now: Date) throws {
        let authority = try CertificateAuthority(in: folder, now: now)
        let key = try Self.key(Self.serverKeyFile, in: folder)
        serverKey = key
        certificate = try authority.issue(for: key, names: ServerNames.standard, now: now)
        otherCertificate = try authority.issue(for: key, names: ServerNames.wrong, now: now)
        try folder.write(certificate, to: Self.serverCertificateFile, access: .everyone)
        _ = try Self.key(Self.providerKeyFile, in: folder)
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
    private static func key(_ name: String, in folder: Folder) throws -> PrivateKey {
        if let key = try folder.key(name, advice: "remove it, and a new one is created") { return key }
        let key = try PrivateKey.p256()
        try folder.write(key.pem, to: name, access: .owner)
        return key
    }
}
