/// API keys, for whoever lets callers in. Secrets are never kept; what is kept cannot be turned back into one.
package protocol KeyStore: Sendable {
    /// The key of `secret`; `nil` when there is none, or it was revoked.
    func authenticate(_ secret: String) async throws -> APIKey?
}
