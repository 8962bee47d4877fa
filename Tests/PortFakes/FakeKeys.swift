package import FoundationEssentials
package import Grandstand

/// Keys by their secrets, for the authentication of requests.
package struct FakeKeys: KeyStore, KeyMemory {
    package var bySecret: [String: APIKey]

    package init(_ bySecret: [String: APIKey]) { self.bySecret = bySecret }

    package func authenticate(_ secret: String) async throws -> APIKey? { bySecret[secret] }

    package func known(_ secret: some StringProtocol) -> APIKey? { bySecret[String(secret)] }
    package func changed() {}
    package func confirmed(at moment: Date) {}
}

/// A `KeyLedger` whose answers the test sets.
package struct FakeLedger: KeyLedger {
    package var find: @Sendable (UUID) throws -> KeyListing? = { _ in throw Unasked() }
    package var create: @Sendable (KeyDraft) throws -> IssuedKey = { _ in throw Unasked() }
    package var list: @Sendable (AppReach, PageRequest) throws -> Page<KeyListing> = { _, _ in throw Unasked() }
    package var revoke: @Sendable (UUID, _ disablingWebhooks: Bool) throws -> Bool = { _, _ in throw Unasked() }
    package var rotate: @Sendable (UUID, _ overlapEnds: Date) throws -> IssuedKey? = { _, _ in throw Unasked() }

    package init() {}

    package func key(_ id: UUID) async throws -> KeyListing? { try find(id) }
    package func create(_ draft: KeyDraft, by actor: AuditActor, now: Date) async throws -> IssuedKey {
        try create(draft)
    }
    package func keys(within reach: AppReach, _ page: PageRequest) async throws -> Page<KeyListing> {
        try list(reach, page)
    }
    package func revoke(
        _ id: UUID, disablingWebhooks: Bool, by actor: AuditActor, now: Date
    ) async throws -> Bool { try revoke(id, disablingWebhooks) }
    package func rotate(
        _ id: UUID, overlapEnds: Date, by actor: AuditActor, now: Date
    ) async throws -> IssuedKey? { try rotate(id, overlapEnds) }
    package func used(_ uses: [UUID: Date]) async throws { throw Unasked() }
}
