package import FoundationEssentials
package import Grandstand
internal import Synchronization

/// An `AppStore` whose answers the test sets.
package struct FakeApps: AppStore {
    package var find: @Sendable (BundleID) throws -> App? = unasked
    package var list: @Sendable (PageRequest, AppReach) throws -> Page<App> = unasked
    package var save: @Sendable (App, WriteCondition) throws -> (app: App, created: Bool) = unasked

    package var remove: @Sendable (BundleID) throws -> Void = unasked

    package init() {}

    package func app(_ bundleID: BundleID) async throws -> App? { try find(bundleID) }
    package func apps(_ page: PageRequest, within reach: AppReach) async throws -> Page<App> { try list(page, reach) }
    package func put(
        _ app: App, by actor: AuditActor, if condition: WriteCondition
    ) async throws -> (app: App, created: Bool) { try save(app, condition) }
    package func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws { try remove(bundleID) }
}

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
    package var find: @Sendable (UUID) throws -> KeyListing? = unasked
    package var create: @Sendable (KeyDraft) throws -> IssuedKey = unasked
    package var list: @Sendable (AppReach, PageRequest) throws -> Page<KeyListing> = unasked
    package var revoke: @Sendable (UUID, _ disablingWebhooks: Bool) throws -> Bool = unasked
    package var rotate: @Sendable (UUID, _ overlapEnds: Date) throws -> IssuedKey? = unasked

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

/// Console sessions and their keys, in memory.
package final class FakeConsoleSessions: ConsoleSessionStore, KeyDirectory {
    private let sessions = Mutex<[[UInt8]: ConsoleSession]>([:])
    private let keys = Mutex<[UUID: APIKey]>([:])

    package init() {}

    package var all: [ConsoleSession] { sessions.withLock { Array($0.values) } }

    /// Makes a key valid; `nil`: the key is no longer valid.
    package func setKey(_ id: UUID, _ key: APIKey?) { keys.withLock { $0[id] = key } }

    package func begin(_ session: ConsoleSession) async throws { put(session) }

    package func put(_ session: ConsoleSession) { sessions.withLock { $0[session.id] = session } }

    package func session(_ id: [UInt8]) async throws -> ConsoleSession? { sessions.withLock { $0[id] } }

    package func used(_ id: [UInt8], at now: Date) async throws { sessions.withLock { $0[id]?.usedAt = now } }

    package func end(_ id: [UInt8]) async throws { _ = sessions.withLock { $0.removeValue(forKey: id) } }

    package func validKey(_ id: UUID) async throws -> APIKey? { keys.withLock { $0[id] } }
}

/// An `IdempotencyStore` whose answers the test sets: `atOnce` for requests in one transaction (`once`), and `stepwise`
/// for requests in several steps (`inSteps`).
package struct FakeIdempotency: IdempotencyStore {
    package typealias Work = @Sendable () async throws -> KeptAnswer
    package typealias Recovery = @Sendable (UUID) async throws -> KeptAnswer?

    package var atOnce: @Sendable (IdempotentRequest, Work) async throws -> IdempotentOutcome = { _, _ in
        throw Unasked()
    }
    package var stepwise: @Sendable (IdempotentRequest, Recovery, Work) async throws -> IdempotentOutcome = {
        _, _, _ in throw Unasked()
    }

    package init() {}

    package func once(
        _ request: IdempotentRequest, now: Date, work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome { try await atOnce(request, work) }
    package func inSteps(
        _ request: IdempotentRequest, lease: Duration, waitLimit: Duration, now: @Sendable () -> Date,
        recover: @Sendable (UUID) async throws -> KeptAnswer?,
        work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome { try await stepwise(request, recover, work) }
}
