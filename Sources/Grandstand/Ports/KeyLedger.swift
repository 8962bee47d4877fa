package import FoundationEssentials

/// The life of API keys, for the calls that manage them; `KeyStore` is for the check of each request.
package protocol KeyLedger: Sendable {
    /// Makes a key and returns its secret, the only time it is seen.
    ///
    /// - Throws: `app-not-found` for a key bound to an app that is not known; `invalid-request` for one with the scope
    ///   `device` that is not bound to one, and for a prefix of event keys that it may not have.
    func create(_ draft: KeyDraft, by actor: AuditActor, now: Date) async throws -> IssuedKey

    /// Keys with their last use, the newest first.
    ///
    /// - Parameter reach: only keys that reach nothing beyond it.
    /// - Throws: `invalid-request` for a cursor that is none.
    func keys(within reach: AppReach, _ page: PageRequest) async throws -> Page<KeyListing>

    func key(_ id: UUID) async throws -> KeyListing?

    /// Ends a key at once.
    ///
    /// - Parameter disablingWebhooks: also disables the webhooks that the key declared, those of a key that was revoked
    ///   earlier, too.
    /// - Returns: whether it changed anything: the key was not revoked yet, or a webhook was enabled.
    func revoke(_ id: UUID, disablingWebhooks: Bool, by actor: AuditActor, now: Date) async throws -> Bool

    /// Makes a key with the same name, scopes, apps and prefix; the old one goes on until `overlapEnds`, or until it would have
    /// expired anyway.
    ///
    /// - Returns: the new key; `nil` when there is no such key that is active and was not replaced yet.
    func rotate(_ id: UUID, overlapEnds: Date, by actor: AuditActor, now: Date) async throws -> IssuedKey?

    /// Records when keys were last used. An earlier time than the one recorded changes nothing; a key that is gone is
    /// no error.
    func used(_ uses: [UUID: Date]) async throws
}

/// A key to be made.
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

    /// Whether it lacks the one app that it would ship in: a stranger who takes it out of one app must not reach
    /// another.
    package var lacksApp: Bool { scopes.contains(.device) && reach.onlyApp == nil }

    /// Whether it is bound to a prefix of event keys and could do more than declare events: what is not of an event is told
    /// apart by apps alone.
    package var mayNotHavePrefix: Bool { reach.eventKeyPrefix != nil && scopes != [.organise] }

    /// The refusal's text for that.
    package static let prefixRule = "A key that is bound to a prefix of event keys has the scope organise and no other."

    /// The refusal's text for a key that lacks its app.
    package static let appRule =
        "A key with the scope device ships inside one app, so it is bound to it: name that app, and no other."
}

/// A key that was just made, with its secret.
package struct IssuedKey: Sendable, Hashable {
    package var key: APIKey
    package var secret: String

    package init(key: APIKey, secret: String) {
        self.key = key
        self.secret = secret
    }
}

/// A key as it is listed.
package struct KeyListing: Sendable, Hashable {
    package var key: APIKey
    /// Written every few seconds, so it may be that much behind.
    package var lastUsedAt: Date?

    package init(key: APIKey, lastUsedAt: Date?) {
        self.key = key
        self.lastUsedAt = lastUsedAt
    }
}
