internal import Cryptography
internal import FoundationEssentials
internal import HTTP2

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

    init(
        in folder: Folder, teams: KeyTeams, scopes: [String: KeyScope] = [:], now: Date
    ) throws(SimulatorError) {
        let authority = try CertificateAuthority(in: folder, now: now)
        let key = try Self.key(Self.serverKeyFile, in: folder)
        serverKey = key
        certificate = try authority.issue(for: key, names: ServerNames.standard, now: now)
        otherCertificate = try authority.issue(for: key, names: ServerNames.wrong, now: now)
        try folder.write(certificate, to: Self.serverCertificateFile, access: .everyone)
        _ = try Self.key(Self.providerKeyFile, in: folder)
        providerKeys = try Self.providerKeys(in: folder, teams: teams, scopes: scopes)
    }

    /// TLS of a server with one of the certificates.
    ///
    /// Apple's hosts ask for a client certificate, too (docs/internals/apns.md 1.1); a client must tolerate it.
    func tls(_ certificate: String) throws -> TLSContext {
        try .server(
            chain: Certificate.all(pem: Array(certificate.utf8)), key: serverKey,
            protocols: ["h2"], asksForCertificate: true)
    }

    static func newKey() throws(SimulatorError) -> PrivateKey {
        do { return try PrivateKey.p256() } catch { throw SimulatorError("A key could not be made: \(error).") }
    }

    static func text(of key: PrivateKey) throws(SimulatorError) -> String {
        do { return try key.pem } catch { throw SimulatorError("A key could not be written: \(error).") }
    }

    /// The P-256 key in a file. If there is no file, a new key is written there.
    private static func key(_ name: String, in folder: Folder) throws(SimulatorError) -> PrivateKey {
        guard let text = try folder.read(name) else {
            let key = try newKey()
            try folder.write(try Self.text(of: key), to: name, access: .owner)
            return key
        }
        do {
            return try PrivateKey.p256(pem: Array(text.utf8))
        } catch {
            throw SimulatorError(
                "\(folder.path(name)) is not an EC P-256 private key in PEM: remove it, and a new one is created.")
        }
    }

    private static func providerKeys(
        in folder: Folder, teams: KeyTeams, scopes: [String: KeyScope]
    ) throws(SimulatorError) -> [ProviderKey] {
        var keys: [ProviderKey] = []
        for name in try folder.names() where name.hasPrefix("AuthKey_") && name.hasSuffix(".p8") {
            let keyID = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
            guard let pem = try folder.read(name) else { continue }
            do {
                var key = try ProviderKey(keyID: keyID, teamID: teams[keyID], pem: pem)
                key.scope = scopes[keyID] ?? KeyScope()
                keys.append(key)
            } catch {
                throw SimulatorError("\(folder.path(name)) is not an EC P-256 private key in PEM: fix or remove it.")
            }
        }
        return keys
    }
}
