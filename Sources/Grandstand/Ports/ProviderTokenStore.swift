/// The store of the one provider token that all replicas with the same key use.
///
/// APNs counts how often a team's token changes, and each ECDSA signature of the same content is different. So replicas
/// can use the same token only if they share it.
package protocol ProviderTokenStore: Sendable {
    /// Agrees on a token. If the stored token for `key` was issued after `limit`, all callers get it. Otherwise `offer`
    /// is stored and returned. If several callers offer a token at once, one offer is stored, and all callers get it.
    ///
    /// - Parameter limit: seconds since 1970. A token that was issued at this time or earlier is replaced.
    func agree(on offer: SharedProviderToken, for key: ProviderTokenKey, replacing limit: Int) async throws
        -> SharedProviderToken
}

/// The key and team of a token.
package struct ProviderTokenKey: Sendable, Hashable {
    package var credentials: Credentials
    /// The SHA-256 hash of the public key. Replicas whose key files differ do not share tokens.
    package var fingerprint: [UInt8]

    package init(credentials: Credentials, fingerprint: [UInt8]) {
        self.credentials = credentials
        self.fingerprint = fingerprint
    }
}

/// A signed token, encrypted with a key that can only be derived from the `.p8` file. APNs accepts the token from
/// anybody for an hour, so it must not be readable in a dump of the database or on a standby.
package struct SharedProviderToken: Sendable, Hashable {
    /// Seconds since 1970.
    package var issuedAt: Int
    package var sealed: [UInt8]

    package init(issuedAt: Int, sealed: [UInt8]) {
        self.issuedAt = issuedAt
        self.sealed = sealed
    }
}
