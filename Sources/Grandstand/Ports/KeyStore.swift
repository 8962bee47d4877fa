/// Authenticates API keys. Only hashes of secrets are stored.
package protocol KeyStore: Sendable {
    /// The key with this secret; `nil`: there is none, or it is revoked or expired.
    func authenticate(_ secret: String) async throws -> APIKey?
}
