internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// An `AppStore` whose answers the test sets.
struct FakeApps: AppStore {
    var find: @Sendable (BundleID) throws -> App? = unasked
    var list: @Sendable (PageRequest, AppReach) throws -> Page<App> = unasked
    var save: @Sendable (App, WriteCondition) throws -> (app: App, created: Bool) = unasked

    var remove: @Sendable (BundleID) throws -> Void = unasked

    func app(_ bundleID: BundleID) async throws -> App? { try find(bundleID) }
    func apps(_ page: PageRequest, within reach: AppReach) async throws -> Page<App> { try list(page, reach) }
    func put(
        _ app: App, by actor: AuditActor, if condition: WriteCondition
    ) async throws -> (app: App, created: Bool) { try save(app, condition) }
    func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws { try remove(bundleID) }
}

/// Keys by their secrets, for the authentication of requests.
struct FakeKeys: KeyStore, KeyMemory {
    var bySecret: [String: APIKey]

    init(_ bySecret: [String: APIKey]) { self.bySecret = bySecret }

    func authenticate(_ secret: String) async throws -> APIKey? { bySecret[secret] }

    func known(_ secret: some StringProtocol) -> APIKey? { bySecret[String(secret)] }
    func changed() {}
    func confirmed(at moment: Date) {}
}

/// A `KeyLedger` whose answers the test sets.
struct FakeLedger: KeyLedger {
    var find: @Sendable (UUID) throws -> KeyListing? = unasked
    var create: @Sendable (KeyDraft) throws -> IssuedKey = unasked
    var list: @Sendable (AppReach, PageRequest) throws -> Page<KeyListing> = unasked
    var revoke: @Sendable (UUID, _ disablingWebhooks: Bool) throws -> Bool = unasked
    var rotate: @Sendable (UUID, _ overlapEnds: Date) throws -> IssuedKey? = unasked

    func key(_ id: UUID) async throws -> KeyListing? { try find(id) }
    func create(_ draft: KeyDraft, by actor: AuditActor, now: Date) async throws -> IssuedKey {
        try create(draft)
    }
    func keys(within reach: AppReach, _ page: PageRequest) async throws -> Page<KeyListing> {
        try list(reach, page)
    }
    func revoke(
        _ id: UUID, disablingWebhooks: Bool, by actor: AuditActor, now: Date
    ) async throws -> Bool { try revoke(id, disablingWebhooks) }
    func rotate(
        _ id: UUID, overlapEnds: Date, by actor: AuditActor, now: Date
    ) async throws -> IssuedKey? { try rotate(id, overlapEnds) }
    func used(_ uses: [UUID: Date]) async throws { throw Unasked() }
}

/// Console sessions and their keys, in memory.
final class FakeConsoleSessions: ConsoleSessionStore, KeyDirectory {
    private let sessions = Mutex<[[UInt8]: ConsoleSession]>([:])
    private let keys = Mutex<[UUID: APIKey]>([:])

    init() {}

    var all: [ConsoleSession] { sessions.withLock { Array($0.values) } }

    /// Makes a key valid; `nil`: the key is no longer valid.
    func setKey(_ id: UUID, _ key: APIKey?) { keys.withLock { $0[id] = key } }

    func begin(_ session: ConsoleSession) async throws { put(session) }

    func put(_ session: ConsoleSession) { sessions.withLock { $0[session.id] = session } }

    func session(_ id: [UInt8]) async throws -> ConsoleSession? { sessions.withLock { $0[id] } }

    func used(_ id: [UInt8], at now: Date) async throws { sessions.withLock { $0[id]?.usedAt = now } }

    func end(_ id: [UInt8]) async throws { _ = sessions.withLock { $0.removeValue(forKey: id) } }

    func validKey(_ id: UUID) async throws -> APIKey? { keys.withLock { $0[id] } }
}

/// An `IdempotencyStore` whose answers the test sets: `atOnce` for requests in one transaction (`once`), and `stepwise`
/// for requests in several steps (`inSteps`).
struct FakeIdempotency: IdempotencyStore {
    typealias Work = @Sendable () async throws -> KeptAnswer
    typealias Recovery = @Sendable (UUID) async throws -> KeptAnswer?

    var atOnce: @Sendable (IdempotentRequest, Work) async throws -> IdempotentOutcome = { _, _ in
        throw Unasked()
    }
    var stepwise: @Sendable (IdempotentRequest, Recovery, Work) async throws -> IdempotentOutcome = {
        _, _, _ in throw Unasked()
    }

    func once(
        _ request: IdempotentRequest, now: Date, work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome { try await atOnce(request, work) }
    func inSteps(
        _ request: IdempotentRequest, lease: Duration, waitLimit: Duration, now: @Sendable () -> Date,
        recover: @Sendable (UUID) async throws -> KeptAnswer?,
        work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome { try await stepwise(request, recover, work) }
}
