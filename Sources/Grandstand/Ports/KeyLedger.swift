package import FoundationEssentials

/// Creates, lists, rotates and revokes API keys. `KeyStore` checks the key of each request.
package protocol KeyLedger: Sendable {
    /// Creates a key and returns its secret. The secret cannot be read again.
    ///
    /// - Throws: `app-not-found` for a key that is bound to an unknown app; `invalid-request` for a `device` key that
    ///   is not bound to exactly one app, and for a prefix on a key with other scopes than `organise`.
    func create(_ draft: KeyDraft, by actor: AuditActor, now: Date) async throws -> IssuedKey

    /// Keys with their last use, the newest first.
    ///
    /// - Parameter reach: only keys whose own reach is inside this reach.
    /// - Throws: `invalid-request` for an invalid cursor.
    func keys(within reach: AppReach, _ page: PageRequest) async throws -> Page<KeyListing>

    func key(_ id: UUID) async throws -> KeyListing?

    /// Revokes a key.
    ///
    /// - Parameter disablingWebhooks: also disables the webhooks that the key declared, even if the key is already
    ///   revoked.
    /// - Returns: whether the call changed anything: the key was not revoked yet, or a webhook was enabled.
    func revoke(_ id: UUID, disablingWebhooks: Bool, by actor: AuditActor, now: Date) async throws -> Bool

    /// Creates a key with the same name, scopes, apps and prefix. The old key is valid until `overlapEnds`, or until
    /// its own expiry if that is earlier.
    ///
    /// - Returns: the new key; `nil` if there is no active key with this ID, or if it was already replaced.
    func rotate(_ id: UUID, overlapEnds: Date, by actor: AuditActor, now: Date) async throws -> IssuedKey?

    /// Records when keys were last used. A time before the recorded one changes nothing. A deleted key is no error.
    func used(_ uses: [UUID: Date]) async throws
}

/// A key to be created.
package struct KeyDraft: Sendable, Hashable {
    package var name: String
    package var scopes: Set<APIKey.Scope>
    package var reach: AppReach
    package var expiresAt: Date?

    package init(name: String, scopes: Set<APIKey.Scope>, reach: AppReach = .all, expiresAt: Date? = nil) {
        self.name = name
        self.scopes = scopes
        self.reach = reach
        self.expiresAt = expiresAt
    }

    /// Whether a `device` key is not bound to exactly one app. Anybody can extract the key from the app, so it must not
    /// open another app.
    package var lacksApp: Bool { scopes.contains(.device) && reach.onlyApp == nil }

    /// Whether the prefix is not allowed. Only calls on events check the prefix, so the key may have no scope but
    /// `organise`.
    package var mayNotHavePrefix: Bool { reach.eventKeyPrefix != nil && scopes != [.organise] }

    /// The error text for a key whose prefix is not allowed (`mayNotHavePrefix`).
    package static let prefixRule =
        "A key with a prefix of event keys can have only the scope organise. Leave the other scopes or the prefix out."

    /// The error text for a `device` key that is not bound to exactly one app (`lacksApp`).
    package static let appRule =
        "A key with the scope device must be bound to exactly one app. Give one bundle ID."
}

/// A new key with its secret.
package struct IssuedKey: Sendable, Hashable {
    package var key: APIKey
    package var secret: String

    package init(key: APIKey, secret: String) {
        self.key = key
        self.secret = secret
    }
}

package struct KeyListing: Sendable, Hashable {
    package var key: APIKey
    /// When the key was last used. This time is stored every few seconds, so it may be some seconds old.
    package var lastUsedAt: Date?

    package init(key: APIKey, lastUsedAt: Date?) {
        self.key = key
        self.lastUsedAt = lastUsedAt
    }
}
