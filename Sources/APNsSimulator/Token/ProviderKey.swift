internal import Cryptography

/// The public half of a provider key, and its team.
package struct ProviderKey: Sendable {
    /// The `kid` of its tokens.
    package let keyID: String
    /// The `iss` of its tokens.
    package let teamID: String
    /// Where the key may be used. Apple's keys have a scope since February 2025 (docs/internals/apns.md section 5).
    package var scope = KeyScope()
    /// Only its public half is used.
    let key: PrivateKey

    /// - Parameter pem: the text of an `AuthKey_<KEYID>.p8` file (PKCS#8, EC P-256).
    /// - Throws: `SimulatorError` if the text is not such a key.
    package init(keyID: String, teamID: String, pem: String) throws(SimulatorError) {
        self.keyID = keyID
        self.teamID = teamID
        do {
            key = try PrivateKey.p256(pem: Array(pem.utf8))
        } catch {
            throw SimulatorError("Key \(keyID) is not an EC P-256 private key in PEM (PKCS#8).")
        }
    }
}

extension ProviderKey {
    /// Whether both keys may be used on one connection: they must have the same team and the same scope.
    func isRelated(to other: ProviderKey) -> Bool {
        keyID == other.keyID || teamID == other.teamID && scope == other.scope
    }
}
