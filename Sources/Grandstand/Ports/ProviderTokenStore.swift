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

/// A signed token. Its text is a secret for as long as APNs accepts it.
package struct SharedProviderToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// Seconds since 1970.
    package var issuedAt: Int
    package var text: String

    package init(issuedAt: Int, text: String) {
        self.issuedAt = issuedAt
        self.text = text
    }

    /// Without the text.
    package var description: String { "provider token issued at \(issuedAt)" }

    package var debugDescription: String { description }
}
