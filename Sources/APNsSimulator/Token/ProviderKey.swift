internal import Cryptography

/// The public half of a provider key, and its team.
struct ProviderKey: Sendable {
    /// The `kid` of its tokens.
    let keyID: String
    /// The `iss` of its tokens.
    let teamID: String
    /// Where the key may be used. Apple's keys have a scope since February 2025 (docs/internals/apns.md section 5).
    var scope = KeyScope()
    /// Only its public half is used.
    let key: PrivateKey

    /// Whether both keys may be used on one connection: they must have the same team and the same scope.
    func isRelated(to other: ProviderKey) -> Bool {
        keyID == other.keyID || teamID == other.teamID && scope == other.scope
    }
}
