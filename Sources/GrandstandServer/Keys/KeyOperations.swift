internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The operations on API keys. A key that is bound to apps can manage only the keys for these apps.
struct KeyOperations: Sendable {
    let keys: CachedKeyStore
    let now: @Sendable () -> Date

    /// - Throws: `forbidden`, also if a caller that is bound to apps sets an event-key prefix, because a prefix takes
    ///   the event keys that begin with it away from all other apps; the errors of the store.
    func create(_ draft: Contract.KeyDraft, _ caller: Caller) async throws -> Contract.IssuedKey {
        try caller.requireAccess(to: draft.reach)
        guard draft.eventKeyPrefix == nil || caller.reach == .all else {
            throw Problem(
                .forbidden,
                "A prefix of event keys is reserved in all apps, so only a key for all apps can create a key "
                    + "with a prefix."
            )
        }
        return try await keys.store.create(draft, by: caller.actor, now: now())
    }

    func list(_ page: PageRequest, _ caller: Caller) async throws -> Contract.KeyPage {
        try await keys.store.keys(within: caller.reach, page, now: now())
    }

    /// - Throws: `key-not-found`.
    func key(_ id: UUID, _ caller: Caller) async throws -> Contract.Key {
        guard let key = try await keys.store.key(id, within: caller.reach, now: now()) else {
            throw Problem(.keyNotFound, "There is no key \(id.words).")
        }
        return key
    }

    /// Revoking a revoked key changes nothing, so a client that missed the answer may repeat the call.
    ///
    /// - Parameter disablingWebhooks: also disables the webhooks that the key declared, even if the key was revoked
    ///   earlier.
    /// - Throws: `key-not-found`.
    func revoke(_ id: UUID, disablingWebhooks: Bool, _ caller: Caller) async throws {
        _ = try await key(id, caller)
        _ = try await keys.revoke(id, disablingWebhooks: disablingWebhooks, by: caller.actor, now: now())
    }

    /// - Parameter overlap: seconds for which the old key can still be used; `nil`: a day.
    /// - Throws: `key-not-found`, also for a key that is revoked or expired.
    func rotate(_ id: UUID, overlap: Int?, _ caller: Caller) async throws -> Contract.IssuedKey {
        let key = try await key(id, caller)
        let now = now()
        let overlapEnds = now.addingTimeInterval(TimeInterval(overlap ?? 86_400))
        guard let issued = try await keys.rotate(id, overlapEnds: overlapEnds, by: caller.actor, now: now) else {
            throw Problem(
                .keyNotFound,
                "The key \(key.name) is \(key.replacedBy == nil ? key.state.rawValue : "replaced already").")
        }
        return issued
    }
}
