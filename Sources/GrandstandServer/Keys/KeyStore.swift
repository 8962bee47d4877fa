internal import FoundationEssentials
internal import Grandstand
internal import Postgres
internal import Synchronization

/// API keys in the table `api_keys` (`Key+store`), and all valid ones in memory, by the hash of their secret, so that
/// calls are authenticated without asking the database. The table has no secrets, only their SHA-256 hashes; a secret has
/// 256 random bits.
///
/// The keys are read again when a change is announced, and each second, so a revocation takes effect within a second on
/// every replica. While the database does not answer, known keys stay valid for a bounded time; callers can then only
/// look things up.
///
/// A secret that is not in memory may belong to a key that was just created, so its caller waits for the next reading.
/// All callers that wait share one reading.
package final class KeyStore: Sendable {
    struct State {
        var keys: [SecretHash: APIKey] = [:]
        var readAt: Date?
        /// Counts the changes of this process. A reading that began before a change may lack it.
        var changeCount = 0
    }

    let database: Database
    let now: @Sendable () -> Date
    private let staleLimit: TimeInterval
    /// When each key was last used, until it is written.
    let lastUses = Mutex<[UUID: Date]>([:])
    let state = Mutex(State())
    /// One reading at a time. After it comes a pause of four times its duration, so that wrong keys take a bounded share of
    /// the database.
    private let readFlight = SingleFlight { $0 * 4 }

    /// - Parameter staleLimit: how many seconds keys stay valid while the database cannot confirm them.
    init(
        database: Database, staleLimit: TimeInterval = 600, now: @escaping @Sendable () -> Date = { Date() }
    ) { (self.database, self.staleLimit, self.now) = (database, staleLimit, now) }

    // MARK: Keeping up

    /// A key was created, changed or revoked, here or on another replica.
    func reloadSoon() { Task.detached { try? await self.reload() } }

    /// Takes over a reading that began after the call. If it fails, the keys in memory stay as they were.
    func reload() async throws { try await readFlight.run { try await self.read() } }

    private func read() async throws {
        while true {
            let (moment, changes) = (now(), state.withLock(\.changeCount))
            // A reading takes no longer than one of a request, because requests may wait for it.
            let keys = try await PostgresTimeLimit.$current.withValue(PostgresTimeLimit.current ?? .forRequest()) {
                try await Self.validKeys(on: database, at: moment)
            }
            let isCurrent = state.withLock { state in
                guard state.changeCount == changes else { return false }
                (state.keys, state.readAt) = (keys, moment)
                return true
            }
            if isCurrent { return }
        }
    }

    /// Makes a change of a key take effect in this process as soon as it is committed. In other processes, it takes
    /// effect when it is announced.
    func forget(_ id: UUID) {
        database.afterCommit { [self] in
            state.withLock { state in
                state.keys = state.keys.filter { $0.value.id != id }
                state.changeCount += 1
            }
            reloadSoon()
        }
    }

    // MARK: Asking

    /// The keys in memory; empty if they were not confirmed recently.
    private var trusted: [SecretHash: APIKey] {
        state.withLock { state in
            now().timeIntervalSince(state.readAt ?? .distantPast) <= staleLimit ? state.keys : [:]
        }
    }

    /// The key with this secret, if memory may be trusted now: the key is known, valid and recently confirmed. `nil`
    /// does not mean that the secret is wrong: `authenticate` decides that.
    func known(_ secret: some StringProtocol) -> APIKey? {
        trusted[SecretHash(of: secret)].flatMap { $0.isExpired(at: now()) ? nil : $0 }
    }

    /// The key with this secret; `nil`: there is none, or it is revoked or expired.
    ///
    /// - Throws: `store-unavailable`.
    func authenticate(_ secret: String) async throws -> APIKey? {
        if let key = known(secret) { return key }
        try await reload()
        return known(secret)
    }

    /// The key with this ID, if it is valid now, for callers with a session.
    ///
    /// - Throws: `store-unavailable`.
    func validKey(_ id: UUID) async throws -> APIKey? {
        if !trusted.values.contains(where: { $0.id == id }) { try await reload() }
        return trusted.values.first { $0.id == id && !$0.isExpired(at: now()) }
    }

    // MARK: Last uses

    /// Notes that a key is in use. The method is cheap enough to be called for every request.
    func noteUse(_ key: APIKey) {
        let now = now()
        lastUses.withLock { $0[key.id] = now }
    }

    /// Writes the uses since the last write, all in one statement. If the write fails, they are lost.
    func writeUses() async throws {
        let batch = lastUses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
        guard !batch.isEmpty else { return }
        let sorted = batch.sorted { $0.key.uuidString < $1.key.uuidString }
        // A time before the recorded one changes nothing. A deleted key is no error.
        try await database.query(
            """
            update api_keys k set used_at = r.used_at
            from unnest(\(sorted.map(\.key)), \(sorted.map(\.value))) as r(key, used_at)
            where k.id = r.key and (k.used_at is null or k.used_at < r.used_at)
            """)
    }
}
