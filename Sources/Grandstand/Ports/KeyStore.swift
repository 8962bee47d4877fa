package import FoundationEssentials

/// API keys. Secrets are never kept; what is kept cannot be turned back into one.
package protocol KeyStore: Sendable {
    /// Makes a key and returns its secret, the only time it is seen.
    ///
    /// - Throws: `app-not-found` for a key bound to an app that is not known.
    func create(
        name: String, scopes: Set<APIKey.Scope>, bundleID: BundleID?, by actor: AuditActor
    ) async throws -> (key: APIKey, secret: String)

    /// The key of `secret`; `nil` when there is none, or it was revoked.
    func authenticate(_ secret: String) async throws -> APIKey?

    /// Every key, the newest first.
    func keys() async throws -> [APIKey]

    /// - Returns: whether there was such a key that was not revoked yet.
    func revoke(_ id: UUID, by actor: AuditActor, now: Date) async throws -> Bool
}
