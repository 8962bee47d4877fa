internal import Crypto

/// The public half of a provider key, and the team whose tokens it signs.
package struct ProviderKey: Sendable {
    /// The `kid` of its tokens.
    package let keyID: String
    /// The `iss` of its tokens.
    package let teamID: String
    /// Where and for what it may be used; Apple's keys since February 2025 have one (docs/internals/apns.md section 5).
    package var scope = KeyScope()
    let publicKey: P256.Signing.PublicKey

    /// - Parameter pem: the text of an `AuthKey_<KEYID>.p8` file (PKCS#8, EC P-256).
    /// - Throws: `SimulatorError` that says what the text is not.
    package init(keyID: String, teamID: String, pem: String) throws(SimulatorError) {
        self.keyID = keyID
        self.teamID = teamID
        do {
            publicKey = try P256.Signing.PrivateKey(pemRepresentation: pem).publicKey
        } catch {
            throw SimulatorError("Key \(keyID) is not an EC P-256 private key in PEM (PKCS#8).")
        }
    }
}

extension ProviderKey {
    /// Whether both may be used on one connection: keys of one team and one kind, and if they are bound to topics, to
    /// the same ones.
    func isRelated(to other: ProviderKey) -> Bool {
        keyID == other.keyID || teamID == other.teamID && scope == other.scope
    }
}
