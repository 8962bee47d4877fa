/// The store of the one provider token that all replicas with the same key send.
///
/// APNs counts how often a team's token changes, and ECDSA signs the same words differently each time: only a token
/// that is passed on is the same token.
package protocol ProviderTokenStore: Sendable {
    /// Agrees on a token: the one kept for `key` when it was issued after `limit`, else `offer`, which is kept then. Of
    /// several offers at once one wins, and all get it.
    ///
    /// - Parameter limit: seconds since 1970; what was issued then or earlier is to be replaced.
    func agree(on offer: SharedProviderToken, for key: ProviderTokenKey, replacing limit: Int) async throws
        -> SharedProviderToken
}

/// The key and team of a token.
package struct ProviderTokenKey: Sendable, Hashable {
    package var credentials: Credentials
    /// SHA-256 of the public key: replicas whose key files differ do not share.
    package var fingerprint: [UInt8]

    package init(credentials: Credentials, fingerprint: [UInt8]) {
        self.credentials = credentials
        self.fingerprint = fingerprint
    }
}

/// A signed token, sealed with a key that only who has the `.p8` file can derive: APNs takes the token from anybody for an
/// hour, so it must not be readable in a dump of the database or on a standby.
package struct SharedProviderToken: Sendable, Hashable {
    /// Seconds since 1970.
    package var issuedAt: Int
    package var sealed: [UInt8]

    package init(issuedAt: Int, sealed: [UInt8]) {
        self.issuedAt = issuedAt
        self.sealed = sealed
    }
}
