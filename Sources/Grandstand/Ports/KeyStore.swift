/// Authenticates API keys. Only hashes of secrets are stored.
package protocol KeyStore: Sendable {
    /// The key with this secret; `nil`: there is none, or it was revoked.
    func authenticate(_ secret: String) async throws -> APIKey?
}
